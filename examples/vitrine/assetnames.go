package main

import (
	"fmt"
	"os"

	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// demoAssetNames are the names in the console for the sample data.
var demoAssetNames = console.AssetNames{
	Via:    map[int64]string{1: "Hashtag search", 2: "Sent in by readers", 3: "Added by hand"},
	Rights: map[int64]string{1: "Requested", 2: "Granted"},
}

// readAssetNames reads the file of -asset-names. Without one there are no names, but for the sample data.
func (o *serveFlags) readAssetNames() (names console.AssetNames, err error) {
	if o.assetNames == "" {
		if o.demo {
			names = demoAssetNames
		}
		return names, nil
	}
	text, err := os.ReadFile(o.assetNames)
	if err == nil {
		err = strictjson.Decode(text, &names)
	}
	if err != nil {
		return names, usageError{fmt.Errorf(`-asset-names %s: %w; want JSON such as `+
			`{"via":{"1":"Hashtag search"},"rights":{"2":"Granted"}}`, o.assetNames, err)}
	}
	return names, nil
}
