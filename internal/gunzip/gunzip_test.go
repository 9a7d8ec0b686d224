package gunzip_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

func packed(text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return out.String()
}

// ways to read a file.
var ways = map[string]func(io.Reader) io.Reader{
	"": func(r io.Reader) io.Reader {
		return r
	}, ", a byte at a time": iotest.OneByteReader, ", the end with the data": iotest.DataErrReader,
}

func TestUnpacking(t *testing.T) {
	long := strings.Repeat("some words, ", 10_000)
	a, b := packed("one, "), packed(long)
	header := a[:10]
	damaged := b[:100] + "\xff\xff\xff\xff\xff\xff\xff\xff" + b[108:]
	for _, test := range []struct {
		name, file, want string
		fault            string
		at               int // -1: somewhere
		cause            error
	}{
		{name: "one member", file: a, want: "one, "},
		{name: "two members", file: a + b, want: "one, " + long},
		{name: "empty members", file: packed("") + a + packed("") + packed("") + a, want: "one, one, "},
		{name: "one zero behind", file: a + "\x00", want: "one, "},
		{name: "a tape block of zeros behind", file: b + strings.Repeat("\x00", 10_240), want: long},
		{name: "a newline behind", file: a + "\n", want: "one, ", fault: "0x0a follows", at: len(a),
			cause: gzip.ErrHeader},
		{name: "text behind", file: a + b + "more", want: "one, " + long, fault: "0x6d follows", at: len(a + b),
			cause: gzip.ErrHeader},
		{name: "a member behind zeros", file: a + "\x00\x00" + a, want: "one, ", fault: "0x1f follows", at: len(a) + 2,
			cause: gzip.ErrHeader},
		{name: "half of a magic behind", file: a + "\x1f", want: "one, ", fault: "0x1f follows", at: len(a),
			cause: gzip.ErrHeader},
		{name: "a magic behind", file: a + "\x1f\x8b", want: "one, ", fault: "ends in the middle", at: len(a) + 2,
			cause: io.ErrUnexpectedEOF},
		{name: "a header alone", file: header, fault: "ends in the middle", at: 10, cause: io.ErrUnexpectedEOF},
		{name: "half of a header", file: header[:5], fault: "ends in the middle", at: 5, cause: io.ErrUnexpectedEOF},
		{name: "nothing", fault: "ends in the middle", cause: io.ErrUnexpectedEOF},
		{name: "no gzip", file: "{\"source\":\"s\"}\n", fault: "header", at: 10, cause: gzip.ErrHeader},
		{name: "cut short", file: a + b[:len(b)-4], want: "one, " + long, fault: "ends in the middle", at: len(a+b) - 4,
			cause: io.ErrUnexpectedEOF},
		{name: "another checksum", file: a[:len(a)-8] + "\x00\x00\x00\x00" + a[len(a)-4:] + b, want: "one, ",
			fault: "checksum", at: len(a), cause: gzip.ErrChecksum},
		{name: "another length", file: a[:len(a)-4] + "\x00\x00\x00\x00", want: "one, ", fault: "checksum", at: len(a),
			cause: gzip.ErrChecksum},
		{name: "damaged", file: damaged, fault: "damaged", at: -1},
	} {
		for way, read := range ways {
			t.Run(test.name+way, func(t *testing.T) {
				r, err := gunzip.NewReader(read(strings.NewReader(test.file)))
				var got []byte
				if err == nil {
					got, err = io.ReadAll(r)
				}
				if test.fault == "" {
					if err != nil || string(got) != test.want {
						t.Errorf("%d bytes, want %d; error %v", len(got), len(test.want), err)
					}
					return
				}
				var fault *gunzip.Error
				if !errors.As(err, &fault) || !strings.Contains(err.Error(), test.fault) || test.cause != nil &&
					!errors.Is(err, test.cause) {
					t.Fatalf("error %v, want %q", err, test.fault)
				}
				if test.at >= 0 && (fault.Offset != int64(test.at) || string(got) != test.want) {
					t.Errorf("%v: after %d bytes, want %d of the compressed file and %d bytes", err, len(got), test.at,
						len(test.want))
				}
				if r != nil {
					if n, again := r.Read(make([]byte, 1)); n != 0 || again != err {
						t.Errorf("reading on gives %d bytes, %v", n, again)
					}
				}
			})
		}
	}
}

func TestErrorsOfTheFileAreItsOwn(t *testing.T) {
	broken := errors.New("the disk is gone")
	whole := packed(strings.Repeat("some words, ", 1000))
	for _, n := range []int{0, 5, 10, 30, len(whole) - 3, len(whole)} {
		for way, read := range ways {
			r, err := gunzip.NewReader(read(io.MultiReader(strings.NewReader(whole[:n]), iotest.ErrReader(broken))))
			if err == nil {
				_, err = io.ReadAll(r)
			}
			if err != broken {
				t.Errorf("after %d bytes%s: %v", n, way, err)
			}
		}
	}
}

// What the standard library unpacks comes out the same, and nothing else but padding is forgiven.
func FuzzUnpacking(f *testing.F) {
	a := packed("one, ")
	for _, file := range []string{a, a + a, a + "\x00\x00", a + "\x00x", a[:9], a + a[:12], "", "\x1f\x8b"} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := unpack(file)
		trimmed := bytes.TrimRight(file, "\x00")
		for n := len(trimmed); n <= len(file); n++ { // the last bytes of a member may be zeros too
			if want, failed := standard(file[:n]); failed == nil {
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%q: %q, %v, want %q", file, got, err, want)
				}
				return
			}
		}
		if err == nil {
			t.Errorf("%q is taken for gzip of %q", file, got)
		}
	})
}

func unpack(file []byte) ([]byte, error) {
	r, err := gunzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func standard(file []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
