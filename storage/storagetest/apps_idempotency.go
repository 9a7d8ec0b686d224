package storagetest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

var answerRules = []appRule{
	{"an answer is kept for its caller and key, any bytes and all; others are ErrNotFound", func(t *testing.T, s appsvc.Store) {
		want := appsvc.Answer{By: owner, Key: "key", Request: []byte("\x00\xff\x80"), Result: []byte(`{"a":1.10}` + "\n\x00"), Expires: 1 << 50}
		keep(t, s, 0, want)
		checkAnswer(t, s, want)
		for _, other := range [][2]string{{editor, "key"}, {owner, "Key"}, {owner, "key "}, {owner, "ke"}, {owner, ""}, {"", "key"}, {"", ""}} {
			checkNoAnswer(t, s, other[0], other[1])
		}
	}},
	{"the parts of a caller and a key do not run together", func(t *testing.T, s appsvc.Store) {
		first, second := answer("ab", "c", 10), answer("a", "bc", 10)
		second.Result = []byte(`"second"`)
		keep(t, s, 0, first, second)
		checkAnswer(t, s, first)
		checkAnswer(t, s, second)
	}},
	{"an answer replaces the one for the same caller and key", func(t *testing.T, s appsvc.Store) {
		keep(t, s, 0, answer(owner, "key", 10), answer(editor, "key", 10))
		second := appsvc.Answer{By: owner, Key: "key", Request: []byte("2"), Result: []byte(`2`), Expires: 20}
		keep(t, s, 0, second)
		checkAnswer(t, s, second)
		checkAnswer(t, s, answer(editor, "key", 10))
	}},
	{"KeepAnswer forgets those that expired at now or before, and no others", func(t *testing.T, s appsvc.Store) {
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
	{"an answer whose time was put off is kept as long as its new time says", func(t *testing.T, s appsvc.Store) {
		keep(t, s, 0, answer(owner, "key", 10))
		keep(t, s, 5, answer(owner, "key", 50))
		keep(t, s, 20, answer(owner, "other", 90))
		checkAnswer(t, s, answer(owner, "key", 50))
		keep(t, s, 50, answer(owner, "other", 90))
		checkNoAnswer(t, s, owner, "key")
	}},
	{"an answer that expired is there until it is forgotten", func(t *testing.T, s appsvc.Store) {
		keep(t, s, 0, answer(owner, "key", 10))
		addVersions(t, s, 1, "a") // an Update that keeps no answer forgets none
		checkAnswer(t, s, answer(owner, "key", 10))
	}},
	{"Answers holds all that are kept, by caller and then by key, in byte order", func(t *testing.T, s appsvc.Store) {
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
	{"a result of 1 MiB is kept", func(t *testing.T, s appsvc.Store) {
		want := answer(owner, "key", 10)
		want.Result = fmt.Appendf(nil, "%q", bytes.Repeat([]byte("0123456789abcdef"), 1<<16))
		keep(t, s, 0, want)
		checkAnswer(t, s, want)
	}},
}

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
	checkError(t, err, appsvc.ErrNotFound, "Answer(%q, %q)", by, key)
}
