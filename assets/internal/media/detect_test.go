package media_test

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets/internal/media"
)

func ftyp(major string, compatible ...string) string {
	return string([]byte{0, 0, 0, byte(16 + 4*len(compatible))}) + "ftyp" + major + "\x00\x00\x00\x00" +
		strings.Join(compatible, "")
}

func TestDetect(t *testing.T) {
	comment := "<!-- " + strings.Repeat("drawn by a program, ", 100) + "-->"
	for _, c := range []struct{ name, head, want string }{
		{"JPEG", "\xff\xd8\xff\xe1", "image/jpeg photo .jpg"},
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", "image/png photo .png"},
		{"GIF", "GIF89a", "image/gif photo .gif"},
		{"old GIF", "GIF87a", "image/gif photo .gif"},
		{"WebP", "RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp photo .webp"},
		{"WAV", "RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wav audio .wav"},
		{"AVI", "RIFF\x00\x00\x00\x00AVI LIST", ""},
		{"AVIF", ftyp("avif", "mif1"), "image/avif photo .avif"},
		{"AVIF sequence", ftyp("avis", "msf1"), "image/avif photo .avif"},
		{"AVIF by a compatible brand", ftyp("mif1", "miaf", "avif"), "image/avif photo .avif"},
		{"HEIC", ftyp("heic", "mif1"), "HEIC"},
		{"HEIC by a compatible brand", ftyp("mif1", "heic"), "HEIC"},
		{"MP4", ftyp("isom", "iso2", "avc1"), "video/mp4 video .mp4"},
		{"MP4 of a phone", ftyp("3gp4", "isom", "3gp4"), "video/mp4 video .mp4"},
		{"3GP alone", ftyp("3gp4", "3gp4"), ""},
		{"QuickTime", ftyp("qt  ", "qt  "), "video/mp4 video .mp4"},
		{"M4V", ftyp("M4V ", "mp42"), "video/mp4 video .mp4"},
		{"M4A", ftyp("M4A ", "isom", "mp42"), "audio/mp4 audio .m4a"},
		{"CR3, a raw picture", ftyp("crx ", "isom"), ""},
		{"ftyp that is cut", ftyp("isom", "iso2")[:18], ""},
		{"WebM", "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm", "video/webm video .webm"},
		{"Matroska", "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska", ""},
		{"MP3 with ID3", "ID3\x04\x00", "audio/mpeg audio .mp3"},
		{"MP3", "\xff\xfb\x90\x64\x00", "audio/mpeg audio .mp3"},
		{"MP3 of MPEG 2.5", "\xff\xe3\x90\x64\x00", "audio/mpeg audio .mp3"},
		{"MP3 with no rate of bits", "\xff\xfb\xf0\x64", ""},
		{"MPEG sound of layer 2", "\xff\xfd\x90\x64", ""},
		{"AAC", "\xff\xf1\x50\x80", ""},
		{"UTF-16", "\xff\xfe<\x00s\x00v\x00g\x00", ""},
		{"Opus", "OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01\x13OpusHead", "audio/ogg audio .ogg"},
		{"Theora", "OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01\x2a\x80theora", ""},
		{"PDF", "%PDF-1.7\n", "application/pdf link .pdf"},
		{"SVG", `<svg xmlns="http://www.w3.org/2000/svg"/>`, "image/svg+xml photo .svg"},
		{"SVG with all that may stand before it", "\ufeff<?xml version='1.0' encoding='iso-8859-1'?>\n" + comment +
			`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "a.dtd" [<!ENTITY ns "http://a/b>">]><svg:svg x="&ns;">`,
			"image/svg+xml photo .svg"},
		{"HTML with an SVG in it", "<html><svg></svg></html>", ""},
		{"text before an SVG", "text <svg/>", ""},
		{"HTML", "<!doctype html><title>x</title>", ""},
		{"program", "MZ\x90\x00", ""},
		{"ZIP", "PK\x03\x04", ""},
		{"empty", "", ""},
		{"short", "RIFF", ""},
	} {
		got, err := media.Detect([]byte(c.head))
		switch {
		case c.want == "HEIC":
			if err == nil || !strings.Contains(err.Error(), "export it as JPEG") {
				t.Errorf("%s: %v, %v, want an error that says what to do", c.name, got, err)
			}
		case c.want == "":
			if err == nil || !strings.Contains(err.Error(), "want JPEG, PNG, GIF") {
				t.Errorf("%s: %v, %v, want an error with the list", c.name, got, err)
			}
		case err != nil || got.MediaType+" "+got.Kind()+" "+got.Ending != c.want:
			t.Errorf("%s: %v, %v, want %s", c.name, got, err, c.want)
		}
	}
}
