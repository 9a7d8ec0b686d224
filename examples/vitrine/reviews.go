package main

import "github.com/vitrine-go/vitrine"

// operator is the caller of every command of reviews: a person who can open the store has all rights.
var operator = vitrine.Caller{Operator: true}
