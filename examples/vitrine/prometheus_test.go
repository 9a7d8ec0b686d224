//go:build proof

package main

import (
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A real Prometheus fires the alerts of what happens to a server, each after it was caused once. Only the time for
// which an alert waits is shorter than in the file. TestEachAlertFiresAtTheFirstEvent has the others.
func TestAlertsInAPrometheus(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil && os.Getenv("VITRINE_CI") == "" {
		t.Skip(err)
	}
	dir := t.TempDir()
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }))
	defer gone.Close()
	writeHooks(t, dir, 0o600, hook("cdn", gone.URL, ""))
	writeCertificate(t, dir, 1, x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}) // for an hour
	s, address := metricsOf(t, dir, "-db", "v.db", "-webhooks", "hooks.json", "-webhooks-allow", "127.0.0.0/8",
		"-tls-cert", "cert.pem", "-tls-key", "key.pem")
	rules := regexp.MustCompile(`(?m)^( +for:) \d+m$`).ReplaceAllString(readFile(t, monitoring, "vitrine-alerts.yml"),
		"$1 1s")
	target, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := listener.Addr().String()
	config := `{"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
		"rule_files": ["rules.yml"], "scrape_configs": [
			{"job_name": "vitrine", "static_configs": [{"targets": ["` + target + `"]}]}]}` // is YAML, too
	for name, text := range map[string]string{"prometheus.yml": config, "rules.yml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	prometheus := exec.Command("prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
		"--web.listen-address="+web)
	prometheus.Dir, prometheus.SysProcAttr = dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := prometheus.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = prometheus.Process.Kill(); _ = prometheus.Wait() }()
	firing := func() (names []string) {
		answer, err := http.Get("http://" + web + "/api/v1/alerts")
		if err != nil {
			return nil // it starts
		}
		defer answer.Body.Close()
		var all struct {
			Data struct {
				Alerts []struct {
					State  string
					Labels map[string]string
				}
			}
		}
		_ = json.NewDecoder(answer.Body).Decode(&all)
		for _, a := range all.Data.Alerts {
			if a.State == "firing" {
				names = append(names, a.Labels["alertname"])
			}
		}
		return names
	}
	expect := func(name string, fires bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); slices.Contains(firing(),
			name) != fires; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s fires: %v, want %v; %q fire", name, !fires, fires, firing())
			}
		}
	}
	expect("VitrineCertificateExpires", true)
	expect("VitrineCopyOld", true)
	for _, not := range []string{"VitrineWebhookDisabled", "VitrineReloadFailed", "VitrineDown"} {
		expect(not, false)
	}
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	expect("VitrineCopyOld", false)
	if out := run(t, dir, nil, "reviews", "import", "-db", "v.db",
		filepath.Join(reviewFiles(t), "good")); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	expect("VitrineWebhookDisabled", true)
	if err := os.WriteFile(filepath.Join(dir, "v.db.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	expect("VitrineReloadFailed", true)
	s.stop()
	expect("VitrineDown", true)
}
