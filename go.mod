module github.com/vitrine-go/vitrine

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1 // tests: whether a history is linearizable
	github.com/coreos/go-oidc/v3 v3.21.0 // adapters/signin: ID tokens of OpenID Connect providers
	github.com/descope/virtualwebauthn v1.0.3 // tests of adapters/signin: an authenticator in software
	github.com/dlclark/regexp2 v1.12.0 // appsvc: patterns with lookarounds and back-references, under a limit of time
	github.com/evanphx/json-patch/v5 v5.9.11 // tests of appsvc: the oracle of JSON Patch
	github.com/go-chi/chi/v5 v5.5.0 // internal/mounts: a router in a test
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // JSON tokens: no duplicate names, no bad UTF-8, offsets and pointers
	github.com/go-webauthn/webauthn v0.18.0 // adapters/signin: passkeys
	github.com/gogs/chardet v0.0.0-20211120154057-b7413eaefb8f // reviews/convert: guesses of character sets
	github.com/golang-jwt/jwt/v5 v5.3.1 // adapters/httpapi: signed tokens, with no further dependency
	github.com/google/jsonschema-go v0.4.3 // adapters/mcp: schemas of tools
	github.com/google/uuid v1.6.0 // ids of apps and components
	github.com/jackc/pgx/v5 v5.12.0 // storage/postgres: PostgreSQL
	github.com/johannesboyne/gofakes3 v1.2.0 // tests of adapters/s3files: a server of S3
	github.com/julienschmidt/httprouter v1.3.0 // adapters/httpapi: paths with a double slash, which http.ServeMux redirects
	github.com/klauspost/compress v1.20.3 // internal/history: zstd; adapters/httpapi: gzip at twice the speed of the standard library's
	github.com/minio/minio-go/v7 v7.4.1 // adapters/s3files: a client of S3
	github.com/modelcontextprotocol/go-sdk v1.8.0 // adapters/mcp: the Model Context Protocol
	github.com/prometheus/client_golang v1.25.0 // examples/vitrine: metrics
	github.com/qri-io/jsonschema v0.2.1 // adapters/qrischema: another JSON Schema engine
	github.com/riverqueue/river v0.51.2 // internal/proof/jobs: a job queue in the transaction of a change
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.51.2 // internal/proof/jobs: its driver for pgx
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // appsvc: JSON Schema, the engine that passes the public suite
	github.com/schollz/progressbar/v3 v3.19.1 // examples/vitrine: a progress bar on a terminal
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1 // tests: receivers verify webhooks with it
	github.com/tdewolff/minify/v2 v2.24.25 // adapters/console: scripts and style sheets in 0.55x of their bytes
	github.com/tidwall/btree v1.8.2 // storage/memory: a map in order, whose copies take no time
	go.etcd.io/bbolt v1.5.0 // tests: a driver that is written against package storage alone
	go.opentelemetry.io/otel v1.47.0 // examples/otel: traces and metrics
	go.opentelemetry.io/otel/metric v1.47.0 // examples/otel
	go.opentelemetry.io/otel/sdk v1.47.0 // tests of examples/otel: an exporter in memory
	go.opentelemetry.io/otel/sdk/metric v1.47.0 // tests of examples/otel
	go.opentelemetry.io/otel/trace v1.47.0 // examples/otel
	golang.org/x/image v0.47.0 // assets/internal/media: smaller pictures of pictures, and decoding WebP
	golang.org/x/mod v0.42.0 // appsvc: which version of a component is the latest
	golang.org/x/net v0.62.0 // assets, reviews/convert: text of HTML
	golang.org/x/oauth2 v0.38.0 // adapters/signin: the code flow of OpenID Connect, with PKCE
	golang.org/x/sync v0.25.0 // adapters/httpapi: one call of Ready at a time
	golang.org/x/term v0.47.0 // examples/vitrine: whether there is a terminal
	golang.org/x/text v0.43.0 // assets: folding of letters and accents; reviews/convert: encodings of files
	modernc.org/libc v1.77.1 // storage/sqlite: must be the version that modernc.org/sqlite was made with
	modernc.org/sqlite v1.60.0 // storage/sqlite: SQLite without cgo
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/fxamacker/cbor/v2 v2.9.3 // indirect
	github.com/go-jose/go-jose/v4 v4.1.4 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/x v0.3.0 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/klauspost/crc32 v1.3.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/minio/crc64nvme v1.1.1 // indirect
	github.com/minio/md5-simd v1.1.2 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/qri-io/jsonpointer v0.1.1 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/riverqueue/river/riverdriver v0.51.2 // indirect
	github.com/riverqueue/river/rivershared v0.51.2 // indirect
	github.com/riverqueue/river/rivertype v0.51.2 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/rs/xid v1.6.0 // indirect
	github.com/ryszard/goskiplist v0.0.0-20150312221310-2dfbae5fcf46 // indirect
	github.com/tdewolff/parse/v2 v2.8.20 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	go.shabbyrobe.org/gocovmerge v0.0.0-20230507111327-fa4f82cfbf4d // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	gopkg.in/ini.v1 v1.67.3 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

require (
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
