package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a progress bar on a terminal. If standard error is no terminal, it does nothing.
type progress struct {
	bar   *progressbar.ProgressBar // nil without a terminal
	begin time.Time
}

// newProgress returns a bar for so many bytes, -1 when their number is not known.
func newProgress(w io.Writer, size int64) *progress {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	bar := progressbar.NewOptions64(size, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true),
		progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())
	return &progress{bar, time.Now()}
}

// show moves the bar. thing says what was read n times so far.
func (p *progress) show(bytes, n int64, thing string, problems int64) {
	if p.bar == nil {
		return
	}
	rate := float64(n) / max(time.Since(p.begin).Seconds(), 0.001)
	p.bar.Describe(fmt.Sprintf("%s, %.0f/s, %s", count(n, thing), rate, count(problems, "problem")))
	_ = p.bar.Set64(bytes) // the work continues even if the bar cannot be drawn
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
