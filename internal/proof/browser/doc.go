// Package browser shows that cors.html does in a browser what the contract says (section 1): the page
// is framed by a page of another origin, whose client is easyXDM from npm, and driven in headless
// Chromium.
//
// Each check is a promise of the page, answers and refusals alike. What must not happen is looked for
// where it would be seen: in what the servers of all origins were asked, in what the framing page
// heard, in the document itself. That the checks can tell is shown by mutants: the page or its
// policy with one guard gone, each of which must fail the check that is named beside it.
//
// The tests need chromium, chromedriver, sh and npm in PATH, and the npm registry or npm's cache of
// it. Without them they are skipped; where VITRINE_CI is set they fail.
package browser
