package webhook

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// sign sets the headers that let the receiver verify the body, the id and the time of a delivery. A signature is the
// HMAC-SHA256 of "<id>.<seconds>.<body>" under a secret, in Base64 after "v1,". There is one for each secret, and a receiver
// accepts the delivery if one of them is right.
func sign(header http.Header, secrets []Secret, id string, at time.Time, body []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, s := range secrets {
		sum := s.mac(id, ".", timestamp, ".", string(body))
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(sum))
	}
	header.Set(headerID, id)
	header.Set(headerTimestamp, timestamp)
	header.Set(headerSignature, strings.Join(signatures, " "))
}
