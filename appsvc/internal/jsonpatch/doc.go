// Package jsonpatch applies JSON Patch documents (RFC 6902) that come from outside. The operations
// are carried out by evanphx/json-patch; this package decodes strictly before, decides what the
// library leaves open or does otherwise than the RFC, and bounds the work:
//
//   - test is done here: numbers are compared as numbers, a missing place is never equal, and the
//     whole document can be tested;
//   - an array index must be canonical ("-1", "01" and "+1" are none), which needs the document as
//     it is when the operation's turn comes;
//   - a member named "" can be addressed;
//   - nothing is moved into itself.
//
// To look at the document between operations costs an encoding of it, so Apply spends a budget of
// bytes on that; patches beyond it are refused.
package jsonpatch
