//go:build proof

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// promtool returns the program that checks Prometheus's files, or skips the test where it is not installed.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("VITRINE_CI") != "" {
		t.Fatalf("%v: VITRINE_CI=1 says that it shall be there (Debian: prometheus)", err)
	}
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	return path
}

func TestPrometheusTakesTheAlertsAndTheQueries(t *testing.T) {
	tool := promtool(t)
	dir := t.TempDir()
	for _, name := range []string{"prometheus.yml", "vitrine-alerts.yml", "vitrine-alerts_test.yml"} {
		text, err := os.ReadFile(filepath.Join(monitoring, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	queries, _ := dashboardQueries(t)
	rules := "groups:\n  - name: dashboard\n    rules:\n"
	for i, q := range queries {
		text, err := json.Marshal(q.expr) // is YAML, too
		if err != nil {
			t.Fatal(err)
		}
		rules += fmt.Sprintf("      - record: vitrine:query%d\n        expr: %s\n", i, text)
	}
	if err := os.WriteFile(filepath.Join(dir, "dashboard.yml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(args ...string) (string, error) {
		command := exec.Command(tool, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"}, {"check", "rules", "vitrine-alerts.yml"}, {"check", "rules", "dashboard.yml"}, {"test", "rules", "vitrine-alerts_test.yml"},
	} {
		if out, err := check(args...); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	// Each alert has a test in which it fires.
	tests, err := os.ReadFile(filepath.Join(dir, "vitrine-alerts_test.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range alertQueries(t) {
		name := strings.TrimPrefix(q.where, "alert ")
		if !strings.Contains(string(tests), `alertname="`+name+`"`) {
			t.Errorf("%s has no test in which it fires", name)
		}
	}
	changed := strings.Replace(readFile(t, dir, "vitrine-alerts.yml"), "> 900", "> 9000", 1)
	if err := os.WriteFile(filepath.Join(dir, "vitrine-alerts.yml"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := check("test", "rules", "vitrine-alerts_test.yml"); err == nil || !strings.Contains(out, "VitrineWebhookBehind") {
		t.Errorf("an alert that fires too late passes its test: %v, %s", err, out)
	}
}

// Prometheus reads what the binary serves.
func TestPromtoolReadsTheMetrics(t *testing.T) {
	tool := promtool(t)
	s, address := metricsOf(t, t.TempDir(), "-db", "v.db")
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	command := exec.Command(tool, "check", "metrics")
	command.Stdin = answer.Body
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	s.stop()
}
