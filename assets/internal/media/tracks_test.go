package media_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
)

// telemetry are movies with a track of data. Those without want are refused.
func telemetry() (all []struct{ name, file, want string }) {
	const frame, at = "a frame", 36 // of the first frame
	half := len(secret) / 2
	first, second := at+len(frame), at+2*len(frame)+half
	track := func(kind string, tables ...any) string {
		return atom("trak", atom("mdia", atom("hdlr", strings.Repeat("\x00", 8), kind, strings.Repeat("\x00", 12)),
			atom("minf", atom("stbl", atom("stsd", be32(0), be32(1), be32(16), "gpmd", be32(0), be32(1)),
				concat(tables...)))))
	}
	movie := func(data, tracks, after string) string {
		return concat(atom("ftyp", "isom", be32(0), "isomiso2mp41"), atom("mdat", data), atom("moov", tracks), after)
	}
	// stsz has the sizes of samples, of which one after the other is in a chunk, and stco where chunks begin.
	numbers := func(n []int) (s string) {
		for _, n := range n {
			s += be32(n)
		}
		return be32(len(n)) + s
	}
	stsz := func(sizes ...int) string { return atom("stsz", be32(0), be32(0), numbers(sizes)) }
	stsc := func(runs ...int) string {
		return atom("stsc", be32(0), be32(len(runs)/3), numbers(runs)[4:])
	}
	stco := func(offsets ...int) string { return atom("stco", be32(0), numbers(offsets)) }
	one, both := stsc(1, 1, 1), stco(first, second)
	video := track("vide", stsz(len(frame), len(frame)), one, stco(at, at+len(frame)+half))
	add := func(name, kind, text string, taken bool, tables ...any) {
		data := concat(frame, text[:half], frame, text[half:])
		file := movie(data, video+track(kind, tables...), "")
		want := ""
		if taken {
			data = concat(frame, strings.Repeat("\x00", half), frame, strings.Repeat("\x00", len(text)-half))
			hidden := atom("free", strings.Repeat("\x00", len(track(kind, tables...))-8))
			want = movie(data, video+hidden, "")
		}
		all = append(all, struct{ name, file, want string }{name, file, want})
	}
	rest := len(secret) - half
	for _, kind := range strings.Fields("meta camm mett tmcd data") {
		add(kind, kind, secret, true, stsz(half, rest), one, both)
	}
	add("64 bits", "meta", secret, true, stsz(half, rest), one,
		atom("co64", be32(0), be32(2), be32(0), be32(first), be32(0), be32(second)))
	add("samples of one byte", "meta", secret, true, atom("stsz", be32(0), be32(1), be32(len(secret))),
		stsc(1, half, 1, 2, rest, 1), both)
	add("sizes of 8 bits", "meta", secret, true, atom("stz2", be32(0), be32(8), be32(2), half, rest), one, both)
	add("sizes of 16 bits", "meta", secret, true, atom("stz2", be32(0), be32(16), be32(2), be16(half), be16(rest)),
		one, both)
	add("sizes of 4 bits", "meta", secret, true, stsc(1, 3, 1), both,
		atom("stz2", be32(0), be32(4), be32(6), 0xf2, 0x0f, 0x20))
	spoken := "GPS (47.3769, 8.5417, 19), D 6.40m, H 3.00m, H.S 0.00m/s"[:len(secret)]
	add("text of a drone", "text", spoken, true, stsz(half, rest), one, both)
	add("subtitles of a drone", "sbtl", strings.Replace(spoken, "GPS (", "latitude : ", 1)[:len(secret)], true,
		stsz(half, rest), one, both)
	again := func(first, second int) []int { return append(slices.Repeat([]int{first}, 200), second) }
	add("text one over the other", "subt", strings.Repeat("-", len(secret)), true, stsz(again(half, rest)...), one,
		stco(again(first, second)...))

	add("no table of chunks", "meta", secret, false, stsz(half, rest))
	add("more sizes than there are", "meta", secret, false, atom("stsz", be32(0), be32(0), be32(1<<31)), one, both)
	add("many large samples", "meta", secret, false, atom("stsz", be32(0), be32(math.MaxInt32), be32(math.MaxInt32)),
		stsc(1, math.MaxInt32, 1), both)
	add("many samples of no bits", "meta", secret, false, atom("stz2", be32(0), be32(0), be32(1<<31)),
		stsc(1, 1<<31, 1), both)
	add("samples without a chunk", "meta", secret, false, stsz(half, rest, 1), one, both)
	add("fewer offsets than chunks", "meta", secret, false, stsz(half, rest), one,
		strings.Replace(stco(first), be32(1), be32(2), 1))
	add("behind the end", "meta", secret, false, stsz(half, 1<<20), one, both)
	add("before the beginning", "meta", secret, false, stsz(half), one,
		atom("co64", be32(0), be32(1), be32(-1), be32(0)))
	add("in a frame", "meta", secret, false, stsz(half+1, rest), one, both)
	add("in a header", "meta", secret, false, stsz(half, rest), one, stco(first, 0))

	file := movie(secret, video+track("meta"), atom("moof", atom("traf", "samples"))+atom("mdat", secret))
	long := movie("", track("meta", stsz(len(secret)+1), one, stco(220)), atom("mdat", secret))
	said := movie("turn on the GPS", track("sbtl", stsz(15), one, stco(at)), "")
	return append(all, []struct{ name, file, want string }{{"fragments", file, ""},
		{"behind the end of the data", long, ""}, {"subtitles", said, said}}...)
}

// Tracks that are not played are taken out with their samples, and nothing else changes.
func TestTracksOfData(t *testing.T) {
	for _, c := range telemetry() {
		got, _, err := clean(t, c.file)
		if c.want == "" {
			if !errors.Is(err, vitrine.ErrUnprocessable) || !strings.Contains(err.Error(), "where it was taken") {
				t.Errorf("%s: %v, want an error that says why", c.name, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n%.900q\n%.900q", c.name, err, got, c.want)
		}
	}
}
