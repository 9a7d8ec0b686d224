// Package attack tests the server against hostile clients. The example server runs in a process of its own on a SQLite
// file. After each attack its answer, its health, the processor time that it used and the memory that it took must be
// within bounds that the test states, a few times what was measured. E-mail addresses that are easily recognised are
// sent in, and then searched for in all answers, the log and the files.
//
// The attacks here are those that a rule of one package cannot show: what a request costs the whole server, and what
// many clients do together. Rules are tested where they live: tokens, paths, headers and the strictness of bodies in
// adapters/httpapi and internal/strictjson, patches and schemas in appsvc, search texts and cursors in assets, files of
// reviews in reviews, addresses of webhooks in adapters/webhook, who may do what in internal/proof/access, slow and
// half-closed connections in internal/proof/hygiene.
//
// The long form, with uploads of a gigabyte and crowds of a thousand clients that stay:
//
//	go test -tags proof ./internal/proof/attack -v -timeout 0 \
//		-args -megabytes 1024 -connections 1000 -staying 1m -loads
package attack
