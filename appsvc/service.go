package appsvc

import (
	"time"

	"github.com/google/uuid"
)

// Service holds the rules of apps, versions, tags and components. Its methods take the caller
// right after ctx; they are safe for concurrent use and keep nothing between calls but compiled
// schemas. Their errors wrap the sentinels of this package.
type Service struct {
	store   Store
	now     func() time.Time
	newID   func() string
	schemas *schemas
	limits  Limits
}

// Options are what New may be told; the zero value of each field means its default.
type Options struct {
	Now     func() time.Time // the clock; time.Now
	NewID   func() string    // ids of apps and components; random UUIDs (version 4)
	Schemas SchemaEngine     // DefaultSchemaEngine()
	Limits  Limits
}

// Limits bound what the service accepts and answers; zero means the default (contract, section 8).
type Limits struct {
	Title         int // characters of a title; 1,024
	Elements      int // of an app; 1,000
	Groups        int // of an app; 100
	Name          int // characters of a component's name, id or version; 128
	Page          int // items that a page can be asked for; 500
	AppIDs        int // in TagsNamed; 100
	PatchOps      int // operations of a patch; 1,000
	PatchBytes    int // of a patch; 1 MiB
	DocumentBytes int // of a patched app as it is answered; 4 MiB
	AppBytes      int // of a created or restored one, whose components' manifests count too; 16 MiB
	PageBytes     int // a page ends when it has reached so many; 16 MiB
}

// New returns a Service on a store; opts may be nil.
func New(store Store, opts *Options) *Service {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return &Service{store: store, now: o.Now, newID: o.NewID, schemas: newSchemas(o.Schemas), limits: o.Limits.withDefaults()}
}

func (l Limits) withDefaults() Limits {
	or := func(limit *int, value int) {
		if *limit == 0 {
			*limit = value
		}
	}
	or(&l.Title, 1024)
	or(&l.Elements, 1000)
	or(&l.Groups, 100)
	or(&l.Name, 128)
	or(&l.Page, 500)
	or(&l.AppIDs, 100)
	or(&l.PatchOps, 1000)
	or(&l.PatchBytes, 1<<20)
	or(&l.DocumentBytes, 4<<20)
	or(&l.AppBytes, 16<<20)
	or(&l.PageBytes, 16<<20)
	return l
}

// millis is the present, in milliseconds since the epoch.
func (s *Service) millis() int64 { return s.now().UnixMilli() }
