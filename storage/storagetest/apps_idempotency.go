package storagetest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var answerRules = []appRule{
	// An answer may name things that only its caller may know, so another caller with the same key must not find it.
	// Request and Result are any bytes, also NUL and invalid UTF-8.
	{"an answer is found by its caller and key, byte for byte; any other pair is ErrNotFound", func(t *testing.T, s appsvc.Store) {
		want := appsvc.Answer{By: owner, Key: "key", Request: []byte("\x00\xff\x80"), Result: []byte(`{"a":1.10}` + "\n\x00"), Expires: 1 << 50}
		keep(t, s, 0, want)
		checkAnswer(t, s, want)
		for _, other := range [][2]string{{editor, "key"}, {owner, "Key"}, {owner, "key "}, {owner, "ke"}, {owner, ""}, {"", "key"}, {"", ""}} {
			checkNoAnswer(t, s, other[0], other[1])
		}
	}},
	// "ab" with "c" and "a" with "bc" are different pairs.
	{"a caller and a key are two values, never one joined text", func(t *testing.T, s appsvc.Store) {
		first, second := answer("ab", "c", 10), answer("a", "bc", 10)
		second.Result = []byte(`"second"`)
		keep(t, s, 0, first, second)
		checkAnswer(t, s, first)
		checkAnswer(t, s, second)
	}},
	// The answers of other callers stay.
	{"an answer replaces the one for the same caller and key", func(t *testing.T, s appsvc.Store) {
		keep(t, s, 0, answer(owner, "key", 10), answer(editor, "key", 10))
		second := appsvc.Answer{By: owner, Key: "key", Request: []byte("2"), Result: []byte(`2`), Expires: 20}
		keep(t, s, 0, second)
		checkAnswer(t, s, second)
		checkAnswer(t, s, answer(editor, "key", 10))
	}},
	// This is the only way in which answers are removed. An answer must be found until its time, or a client's retry
	// would write again.
	{"KeepAnswer removes the answers that expired at now or before, and no others", func(t *testing.T, s appsvc.Store) {
		for i := range int64(20) {
			keep(t, s, 0, answer(owner, fmt.Sprint("o", i), 100+i), answer(editor, fmt.Sprint("e", i), 100+i))
		}
		keep(t, s, 110, answer(owner, "new", 1000))
		checkAnswer(t, s, answer(owner, "new", 1000))
		for i := range int64(20) {
			if 100+i <= 110 {
				checkNoAnswer(t, s, owner, fmt.Sprint("o", i))
				checkNoAnswer(t, s, editor, fmt.Sprint("e", i))
			} else {
				checkAnswer(t, s, answer(owner, fmt.Sprint("o", i), 100+i))
				checkAnswer(t, s, answer(editor, fmt.Sprint("e", i), 100+i))
			}
		}
	}},
	// A driver that keeps a list of times must forget the old time.
	{"an answer that is stored again expires at its new time", func(t *testing.T, s appsvc.Store) {
		keep(t, s, 0, answer(owner, "key", 10))
		keep(t, s, 5, answer(owner, "key", 50))
		keep(t, s, 20, answer(owner, "other", 90))
		checkAnswer(t, s, answer(owner, "key", 50))
		keep(t, s, 50, answer(owner, "other", 90))
		checkNoAnswer(t, s, owner, "key")
	}},
	// The Service compares the times; a driver has no clock.
	{"an expired answer is found until KeepAnswer removes it", func(t *testing.T, s appsvc.Store) {
		keep(t, s, 0, answer(owner, "key", 10))
		addVersions(t, s, 1, "a") // an Update that keeps no answer forgets none
		checkAnswer(t, s, answer(owner, "key", 10))
	}},
	// Export reads them in this order, so two exports of one store are equal.
	{"Answers yields every stored answer, by caller and then by key, in byte order", func(t *testing.T, s appsvc.Store) {
		var want []appsvc.Answer
		for _, by := range []string{editor, owner} {
			for i, key := range oddNames {
				a := answer(by, key, 10+int64(i))
				want = append(want, a)
				keep(t, s, 0, answer(by, key, 1), a)
			}
		}
		checkAnswers(t, s, want)
		keep(t, s, 11, want[len(want)-1])
		kept := slices.DeleteFunc(want, func(a appsvc.Answer) bool { return a.Expires <= 11 })
		checkAnswers(t, s, kept)
	}},
	// A result is JSON of any length, which the suite tries up to this size.
	{"a result of 1 MiB is stored", func(t *testing.T, s appsvc.Store) {
		want := answer(owner, "key", 10)
		want.Result = fmt.Appendf(nil, "%q", bytes.Repeat([]byte("0123456789abcdef"), 1<<16))
		keep(t, s, 0, want)
		checkAnswer(t, s, want)
	}},
}

// answer returns the answer for a caller and a key. expires is a time that the rules choose; no clock is involved.
func answer(by, key string, expires int64) appsvc.Answer {
	return appsvc.Answer{By: by, Key: key, Request: []byte("request of " + key), Result: []byte(`{}`), Expires: expires}
}

// keep keeps answers in one Update.
func keep(t *testing.T, s appsvc.Store, now int64, answers ...appsvc.Answer) {
	t.Helper()
	update(t, s, func(w tx) error {
		for _, a := range answers {
			if err := w.KeepAnswer(ctx, a, now); err != nil {
				return err
			}
		}
		return nil
	})
}

func checkAnswer(t *testing.T, s appsvc.Store, want appsvc.Answer) {
	t.Helper()
	if got := read(t, s, answerOf(want.By, want.Key)); !equalAnswers(got, want) {
		t.Errorf("answer:\n got %+v\nwant %+v", got, want)
	}
}

func checkAnswers(t *testing.T, s appsvc.Store, want []appsvc.Answer) {
	t.Helper()
	got := read(t, s, func(r reader) ([]appsvc.Answer, error) { return collect(r.Answers(ctx)) })
	if !slices.EqualFunc(got, want, equalAnswers) {
		t.Errorf("answers:\n got %+v\nwant %+v", got, want)
	}
}

func checkNoAnswer(t *testing.T, s appsvc.Store, by, key string) {
	t.Helper()
	_, err := tryRead(s, answerOf(by, key))
	checkError(t, err, vitrine.ErrNotFound, "Answer(%q, %q)", by, key)
}
