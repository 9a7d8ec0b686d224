package program

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var metricsURL = regexp.MustCompile(`msg="metrics are served" url=(\S+)`)

// Metrics reads the metrics of a server that runs with -metrics-addr and logs as text. The keys are names with labels
// as the text form has them: vitrine_connections_open, vitrine_http_refused_total{reason="full"}.
func (s *Server) Metrics() (map[string]float64, error) {
	at := metricsURL.FindStringSubmatch(s.Log())
	if at == nil {
		return nil, errors.New("the log of the server does not say where its metrics are")
	}
	client := http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(at[1])
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s, %w", at[1], response.Status, err)
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		value := max(0, strings.LastIndexByte(line, ' ')) // labels may contain spaces, values do not
		if all[line[:value]], err = strconv.ParseFloat(strings.TrimSpace(line[value:]), 64); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	return all, nil
}
