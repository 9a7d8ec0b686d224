package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine/adapters/s3files"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
)

// The environment variables with the keys of the bucket of -files. Other programs read them, too.
const (
	bucketKey     = "AWS_ACCESS_KEY_ID"
	bucketSecret  = "AWS_SECRET_ACCESS_KEY"
	bucketSession = "AWS_SESSION_TOKEN"
)

const filesUsage = "`address` of a bucket that has the bytes of files, which are else in the store: " +
	"s3://BUCKET?endpoint=URL&region=REGION, with its keys in " + bucketKey + " and " + bucketSecret

// withoutFilesFlag adds -without-files to the flags of a command that checks a store.
func withoutFilesFlag(f *flag.FlagSet) *bool {
	return f.Bool("without-files", false, "do not look for the bytes of files, which a bucket has (serve -files)")
}

// openFiles returns the Files at the address that a flag gives, or nil for "": the store has the bytes then.
func (p *program) openFiles(ctx context.Context, flag, address string) (assets.Files, error) {
	if address == "" {
		return nil, nil
	}
	keys := s3files.Keys{ID: p.getenv(bucketKey), Secret: p.getenv(bucketSecret), Session: p.getenv(bucketSession)}
	if keys.ID == "" || keys.Secret == "" {
		return nil, usageError{errors.New(flag + ": " + bucketKey + " and " + bucketSecret + " must be set: they are " +
			"the keys of the bucket")}
	}
	files, err := s3files.Open(ctx, address, keys)
	if err == nil {
		return files, nil
	}
	err = fmt.Errorf("%s: %w", flag, err)
	if !errors.Is(err, storage.ErrBusy) && ctx.Err() == nil { // another start would find the same bucket
		err = exitError{err, exitUsage}
	}
	return nil, err
}
