package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// doctor is the command doctor: it prints what somebody who helps with a server would ask for, nothing secret, and what
// is wrong. It changes nothing. A fact that cannot be had is left out, and the others are printed.
func doctor(f *flag.FlagSet) action {
	db, asJSON := dbFlag(f), f.Bool("json", false, "print one object of JSON")
	keyFile := f.String("key-file", "", keyUsage)
	base := f.String("base-url", "", "`address` at which people and pages reach the server (default: what the "+
		"store has noted)")
	certificate := tlsCertFlag(f)
	return func(ctx context.Context, p *program) error {
		if err := checkReached(*db); err != nil {
			return err
		}
		if u, err := url.Parse(*base); err != nil || u.User != nil || u.RawQuery+u.Fragment != "" {
			// It is printed, and may have a secret there.
			return usageError{errors.New("-base-url: want an address such as https://host.example/app-service/v4")}
		}
		r := &checkup{}
		r.add("version", versionText())
		r.add("system",
			fmt.Sprintf("%s/%s, %s", runtime.GOOS, runtime.GOARCH, count(int64(runtime.NumCPU()), "processor")))
		r.add("time", time.Now().Format(time.RFC3339))
		if r.add("store", shown(*db)); inPostgres(*db) {
			r.add("kind", "PostgreSQL")
			// readStore returns the error.
			_ = postgres.Describe(ctx, *db, r.add, r.fault)
		} else {
			r.ofFiles(*db)
		}
		err := readStore(ctx, *db, func(s storage.Store) error {
			if *base == "" {
				kept, err := signin.Base(ctx, s)
				if sqlite.IsDamaged(err) {
					return err // readStore adds what to do
				}
				r.fault(err)
				*base = kept
			}
			r.ofStore(ctx, s)
			return nil
		})
		r.fault(err)
		r.ofKeys(p, *db, *keyFile)
		transport, err := trusting(*certificate)
		if r.fault(err); err == nil {
			r.ofServer(ctx, transport, *base)
		}
		if err := r.print(p.stdout, *asJSON); err != nil {
			return err
		}
		if n := len(r.faults); n > 0 {
			return exitError{fmt.Errorf("faults found: %d", n), exitFailed}
		}
		return nil
	}
}

// checkup are facts in their order, and what is wrong.
type checkup struct {
	names  []string
	facts  map[string]any
	faults []string
}

func (r *checkup) add(name string, fact any) {
	if r.facts == nil {
		r.facts = map[string]any{}
	}
	r.names = append(r.names, name)
	r.facts[name] = fact
}

// fault notes what is wrong, if err is not nil.
func (r *checkup) fault(err error) {
	if err != nil {
		lines := strings.FieldsFunc(withUser(err), func(c rune) bool { return c == '\n' || c == '\t' })
		if line := strings.Join(lines, "; "); !slices.Contains(r.faults, line) {
			r.faults = append(r.faults, line)
		}
	}
}

// print writes a fact a line, and a line for each fault, or one object that has the faults as the member problems.
func (r *checkup) print(w io.Writer, asJSON bool) error {
	if asJSON {
		r.facts["problems"] = append([]string{}, r.faults...)
		lines := json.NewEncoder(escaper{w})
		lines.SetEscapeHTML(false)
		return lines.Encode(r.facts)
	}
	var out strings.Builder
	for _, name := range r.names {
		switch fact := r.facts[name].(type) {
		case int64:
			fmt.Fprintf(&out, "%-14s %d (%s)\n", name, fact, inUnits(fact))
		case map[string]string:
			for _, of := range slices.Sorted(maps.Keys(fact)) {
				fmt.Fprintf(&out, "%-14s %s: %s\n", name, printable(of), printable(fact[of]))
			}
		default:
			fmt.Fprintf(&out, "%-14s %s\n", name, printable(fmt.Sprint(fact)))
		}
	}
	for _, one := range r.faults {
		fmt.Fprintf(&out, "wrong: %s\n", printable(one))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// ofFiles adds the sizes of the files of a store and the room on their disk. The format is read from the header of the
// file, before this process opens the store: closing the file would drop SQLite's locks.
func (r *checkup) ofFiles(db string) {
	r.add("kind", "SQLite")
	if file, err := os.Open(db); err == nil {
		var header [64]byte
		if _, err := io.ReadFull(file, header[:]); err == nil &&
			bytes.HasPrefix(header[:], []byte("SQLite format 3\x00")) {
			r.add("format", fmt.Sprint(binary.BigEndian.Uint32(header[60:]))) // SQLite's user_version
		}
		_ = file.Close() // it was only read
	}
	for _, part := range []struct{ name, suffix string }{{"bytes", ""}, {"logBytes", "-wal"}} {
		if info, err := os.Stat(db + part.suffix); err == nil {
			r.add(part.name, info.Size())
		}
	}
	if info, err := os.Stat(db); err == nil {
		r.add("mode", info.Mode().String())
	}
	if d, ok := diskNear(db); ok {
		r.add("diskFree", d.free)
		r.add("diskBytes", d.size)
		r.add("readOnlyDisk", d.readOnly)
		if d.readOnly {
			r.fault(fmt.Errorf("the disk of %s is read-only: changes fail, and the server does not start again", db))
		} else if d.nearlyFull() {
			r.fault(fmt.Errorf("the disk of %s has %s left: files are refused until others are deleted, and all "+
				"changes when it is full", db, inUnits(d.free)))
		}
	}
	if made, copied, err := lastCopy(db); err == nil {
		r.add("lastCopy", made.Format(time.RFC3339)+" "+copied)
	} else {
		r.add("lastCopy", "none is known")
	}
}

// ofStore adds how far the feed of changes of apps is, and the webhooks.
func (r *checkup) ofStore(ctx context.Context, s storage.Store) {
	r.fault(s.View(ctx, func(v storage.Reader) error {
		of := feed.Feed{Space: "apps"}
		state, err := of.State(ctx, v)
		if err != nil || state.Last == 0 {
			return err
		}
		text := fmt.Sprintf("change %d, the oldest kept is %d", state.Last, state.Removed+1)
		for e, err := range of.Entries(ctx, v, state.Last-1, 1) {
			if err != nil {
				return err
			}
			text += ", made " + time.UnixMilli(e.At).UTC().Format(time.RFC3339)
		}
		r.add("feed", text)
		return nil
	}))
	states, err := webhook.States(ctx, s)
	r.fault(err)
	all := map[string]string{}
	for _, w := range states {
		all[w.Endpoint] = "the last change was made " + w.Done.Format(time.RFC3339)
		switch {
		case w.Disabled:
			all[w.Endpoint] += "; disabled, since the receiver answered 410"
			r.fault(fmt.Errorf("the webhook %s is disabled: its receiver answered 410", w.Endpoint))
		case w.Failed > 0:
			failed := fmt.Sprintf("%s failed, the next is at %s", count(int64(w.Failed), "attempt"),
				w.Next.Format(time.RFC3339))
			all[w.Endpoint] += "; " + failed
			// Eight attempts take 20 minutes. An attempt that is overdue is one of a server that is stopped, or of a
			// webhook that the server has no more.
			if w.Failed >= 8 && time.Now().Before(w.Next) {
				r.fault(fmt.Errorf("the receiver of the webhook %s takes nothing: %s; the log of the server has its "+
					"answers", w.Endpoint, failed))
			}
		}
	}
	if len(all) > 0 {
		r.add("webhooks", all)
	}
}

// ofKeys adds the ids of the keys that sign tokens.
func (r *checkup) ofKeys(p *program, db, file string) {
	tokens, err := p.signer(db, file)
	switch {
	case err == nil:
		r.add("keys", strings.Join(tokens.KeyIDs(), " "))
	case !errors.Is(err, errNoKey):
		r.fault(err)
	}
}

// ofServer adds whether the server answers at its address, when the certificate there ends, which a proxy may have, and
// how far its clock is from the one of this machine. That nothing listens at a local address is not a fault: the server
// may be stopped.
func (r *checkup) ofServer(ctx context.Context, transport *http.Transport, base string) {
	u, err := url.Parse(base)
	if base == "" || err != nil {
		return
	}
	r.add("baseURL", base)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	begun := time.Now()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/openapi.json", nil)
	if err != nil {
		r.fault(err)
		return
	}
	answer, err := (&http.Client{Transport: transport}).Do(ask)
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	var of *net.OpError
	stopped := here && errors.As(err, &of) && of.Op == "dial"
	switch {
	case stopped:
		r.add("server", "does not answer: "+err.Error())
		return
	case err != nil:
		r.add("server", "does not answer")
		var untrusted *tls.CertificateVerificationError
		if errors.As(err, &untrusted) {
			err = fmt.Errorf("%w: browsers and pages refuse it too, unless they were told to trust it; then name it, "+
				"or that of its authority, with -tls-cert", err)
		}
		r.fault(err)
		return
	}
	defer answer.Body.Close()
	took := time.Since(begun)
	r.add("server", fmt.Sprintf("answers %s within %s", answer.Status, took.Round(time.Millisecond)))
	if answer.StatusCode != http.StatusOK {
		r.fault(fmt.Errorf("%s answered %s: another program may be listening there, or a proxy finds no server", base,
			answer.Status))
	}
	if answer.TLS != nil {
		ends := answer.TLS.PeerCertificates[0].NotAfter.UTC()
		r.add("certificate", "ends "+ends.Format(time.RFC3339))
		// With -tls-cert the client has not compared the name.
		if err := answer.TLS.PeerCertificates[0].VerifyHostname(u.Hostname()); err != nil {
			r.fault(fmt.Errorf("the certificate of %s is for another name: %w: browsers and pages refuse it", base,
				err))
		}
		if time.Until(ends) < 7*24*time.Hour {
			r.fault(fmt.Errorf("the certificate of %s ends at %s: renew it, and reload what has it", base,
				ends.Format(time.RFC3339)))
		}
	}
	at, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return
	}
	off := at.Sub(begun).Abs().Round(time.Second)
	if off <= 2*time.Second+took { // the header has whole seconds
		off = 0
	}
	r.add("clock", fmt.Sprintf("%s from the one at the base URL", off))
	if off > time.Minute {
		r.fault(fmt.Errorf("the clock at %s is %s from the one of this machine: tokens and sessions end at wrong "+
			"times", base, off))
	}
}
