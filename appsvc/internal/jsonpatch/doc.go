// Package jsonpatch applies JSON Patch documents (RFC 6902) that come from outside. The operations
// are carried out by evanphx/json-patch; this package decodes strictly before, decides what the
// library leaves open or does otherwise than the RFC, and bounds the work:
//
//   - test is done here: numbers are compared as numbers, a missing place is never equal, and the
//     whole document can be tested;
//   - an array index must be canonical ("-1", "01" and "+1" are not), which needs the document as
//     it is when the operation's turn comes;
//   - a member named "" can be addressed;
//   - nothing is moved into itself.
//
// To read the document between two operations, it must be encoded. Limits.Looks bounds the bytes that Apply encodes
// for this, and a patch that needs more is refused.
package jsonpatch
