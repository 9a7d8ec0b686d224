// Package attack shows what becomes of clients that mean harm. The example server runs in a process
// of its own on a SQLite file; after each attack its answer, its health, the processor time that it
// worked and the memory that it took are held against stated bounds, a few times what was measured.
// Secrets that can be told apart, tokens and addresses of readers, are searched for in all answers,
// the log, and the files. That each guard is needed is shown with the same server without it.
//
// Not every attack is carried out here. This is where each is; a test makes sure that what is named
// exists:
//
//	Tokens
//	token in logs, errors, Location, links, panics  here TestTokensStaySecret, adapters/httpapi TestTheTokenStaysSecret, examples/server TestTheAccessLogIsWrittenWhenAskedFor
//	none, two, empty, 100 KB                        here TestBadTokensAreAlike, adapters/httpapi TestATokenIsGivenExactlyOnce
//	forged, expired, no exp, other types            adapters/httpapi TestBadTokensAreAll401AndAlike, FuzzToken
//	remembered beyond its end                       adapters/httpapi TestTokensExpireWhileTheyAreRemembered
//	401 before anything else                        here TestBadTokensAreAlike, internal/proof/access TestEveryCell
//
//	Isolation
//	every endpoint, caller and state; other ids     internal/proof/access TestEveryCell, TestEveryRouteHasARow
//	hidden equals absent                            internal/proof/access TestEveryCell, TestWhatIsHiddenLeavesNoTrace
//	lists hold what can be read                     internal/proof/access TestListsHoldWhatCanBeRead
//	totals, values, children, cursors               internal/proof/access TestWhatIsHiddenLeavesNoTrace, TestCursorsTellNothing
//	old groups, restored                            appsvc TestARestoredVersionGivesItsGroupsRightsAgain, internal/proof/access TestEveryCell
//	granting more than one holds                    assets TestNobodyGrantsMoreThanTheyHold
//	rights that changed meanwhile                   assets TestAccessFollowsTheTreeAtOnce, internal/proof/access TestListsHoldWhatCanBeRead
//
//	JSON Patch
//	version test missing, vacuous, late, shadowed   here TestPatches, appsvc TestPatch
//	odd indices, read-only members                  here TestPatches, appsvc TestPatch, appsvc/internal/jsonpatch TestApply
//	copy bombs, 10^5 operations, index 10^9         here TestPatches, appsvc/internal/jsonpatch TestLimits
//	numbers and text as they were sent              appsvc/internal/jsonpatch TestNumbers, adapters/httpapi TestStoredBytesAreAnsweredAsTheyAre
//	a failed patch changes what is cached           here TestPatches, storage/sqlite TestCachedReadsTouchNoConnection
//
//	configSchema
//	loops, null subschemas                          here TestSchemas, appsvc/internal/schemaguard TestRefuses
//	references that fetch                           here TestSchemas, appsvc TestSchemaFetchesNothing
//	fan-out, patterns, uniqueItems                  here TestSchemas, appsvc TestAcceptedIsFast, TestRefusedIsFast
//	the same $id in two components                  appsvc TestSchemaIDsNeverMeet
//
//	JSON
//	case, duplicates, depth, digits, encodings      here TestBodies, internal/strictjson TestCheck, TestDecode, TestMembers
//	chunked and endless bodies, codings             here TestBodies, adapters/httpapi TestBodiesOverTheLimitAre413, TestAnEndlessBodyIsCutOff, TestMediaTypes
//
//	Search and cursors
//	text that is an expression, many words          here TestSearchesAndLibraries, adapters/httpapi TestSearchTextIsNeverAnExpression
//	many folders and permissions                    here TestPermissionsWithoutMeasure, assets TestManyPermissionsAreLookedThroughOnce
//	changed cursors, limits                         here TestCursors, adapters/httpapi TestSearchParametersAreHeldToTheirLimits
//
//	Stored content
//	HTML of assets                                  here TestMarkupIsAnsweredAsJSON, adapters/httpapi TestEveryAnswerHasItsHeaders
//	addresses that run script                       here TestAddressesThatRunScript
//	HTML of reviews                                 reviews FuzzHTML, TestSamples
//	imported_email leaves by export alone           here TestAddressesStaySecret
//
//	cors.html
//	origins, frames, addresses, redirects           internal/proof/browser TestCORSPage, adapters/httpapi TestCORSPageIsStaticAndItsPolicyStrict
//
//	HTTP
//	slow, many and half-closed connections, panics  internal/proof/hygiene TestScenarios, adapters/httpapi TestAPanicIs500AndTheServerLives
//	many headers, long paths                        here TestBodies
//	odd request lines and paths                     here TestRequestLines, adapters/httpapi TestPathsThatAreNotCanonicalAre404, FuzzPath
//
//	Storage
//	SIGKILL                                         internal/proof/kill TestKills
//	loss of power                                   internal/proof/powerloss TestNothingAcknowledgedIsLost, TestControlsLose
//	full disk, I/O errors, busy                     internal/proof/faults TestTheNthCallToTheDiskFails, storage/sqlite TestFull, TestBusy
//	files that are no store                         storage/sqlite TestRefusedFilesStayAsTheyAre
//	killed migration, clock, backup                 storage/sqlite TestMigrationKilledAtEachStatement, internal/proof/faults TestAClockThatGoesBack, TestBackupUnderLoad
//	SIGTERM under load                              examples/server TestStoppingUnderLoad
//
//	Import
//	long lines, gzip bombs, many problems           here TestImports, reviews TestFlatMemory, TestFlatMemoryOfImport
//	one bad line among many, BOM, CRLF, no end      here TestTheOneBadLine, reviews TestReading
//	dates, zones, lengths                           reviews TestTimestampsKnowTheCalendar, TestSamples
//	kill and resume, run twice                      storage/sqlite TestKilledImportIsRunAgain, reviews TestImportTwiceChangesNothing
//
// Signatures are compared in constant time by the library that verifies them.
//
// The long form, with uploads of a gigabyte and every mutant:
//
//	go test ./internal/proof/attack -v -timeout 0 -args -megabytes 1024 -mutants
package attack
