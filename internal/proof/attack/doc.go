// Package attack tests the server against hostile clients. The example server runs in a process of its own on a SQLite
// file. After each attack its answer, its health, the processor time that it used and the memory that it took must be
// within bounds that the test states, a few times what was measured. Tokens and e-mail addresses that are easily
// recognised are sent in, and then searched for in all answers, the log and the files. Mutants show that each guard is
// needed: without it, an attack must exceed a bound.
//
// Not every attack is carried out here. This is where each is; a test makes sure that what is named
// exists:
//
//	Tokens
//	token in logs, errors, Location, links, panics  here TestTokensStaySecret, adapters/httpapi TestTheTokenStaysSecret, examples/vitrine TestTheAccessLogIsWrittenWhenAskedFor
//	none, two, empty, 100 KB                        here TestBadTokensAreAlike, adapters/httpapi TestATokenIsGivenExactlyOnce
//	forged, expired, no exp, other types            adapters/httpapi TestForgedTokensAreAll401AndAlike, TestATokenThatIsSignedWellSaysWhyItIsRefused, FuzzToken
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
//	versions with much to compare                   here TestDiffs
//	copy bombs, 10^5 operations, index 10^9         here TestPatches, appsvc/internal/jsonpatch TestLimits
//	numbers and text as they were sent              appsvc/internal/jsonpatch TestNumbers, adapters/httpapi TestStoredBytesAreAnsweredAsTheyAre
//	a failed patch changes what is cached           here TestPatches, storage/sqlite TestCachedReadsTouchNoConnection
//
//	configSchema
//	loops, null subschemas                          here TestSchemas, appsvc/internal/schemaguard TestRefuses
//	references that fetch                           here TestSchemas, appsvc TestSchemaFetchesNothing
//	defaults that multiply                          here TestDefaults
//	fan-out, patterns, uniqueItems                  here TestSchemas, appsvc TestAcceptedIsFast, TestRefusedIsFast
//	the same $id in two components                  appsvc TestSchemaIDsNeverMeet
//
//	JSON
//	case, duplicates, depth, digits, encodings      here TestBodies, internal/strictjson TestCheck, TestDecode, TestMembers
//	chunked and endless bodies, codings             here TestBodies, adapters/httpapi TestBodiesOverTheLimitAre413, TestAnEndlessBodyIsCutOff, TestMediaTypes
//
//	Search and cursors
//	text that is an expression, many words          here TestSearchesAndLibraries, adapters/httpapi TestSearchTextIsNeverAnExpression
//	many folders and permissions                    here TestPermissionsWithoutMeasure, assets TestPermissionsOfAFolderAreComparedOncePerRequest
//	changed cursors, limits                         here TestCursors, adapters/httpapi TestSearchParametersAreHeldToTheirLimits
//
//	Stored content
//	HTML of assets                                  here TestMarkupIsAnsweredAsJSON, adapters/httpapi TestEveryAnswerHasItsHeaders
//	addresses that run script                       here TestAddressesThatRunScript
//	HTML of reviews                                 reviews FuzzHTML, TestSamplesHaveTheirProblems
//	imported_email leaves by export alone           here TestAddressesStaySecret
//
//	cors.html
//	origins, frames, addresses, redirects           internal/proof/browser TestCORSPage, adapters/httpapi TestCORSPageIsStaticAndItsPolicyStrict
//
//	HTTP
//	bodies of callers without a right               here TestStrangersSendBodiesInVain, adapters/httpapi TestRightsAreJudgedBeforeTheBodyIsRead
//	answers that nobody reads, bodies that trickle  here TestAnswersThatAreNotRead, TestBodiesThatTrickle, adapters/httpapi TestACallerHoldsAnEighth, TestSlowClientsAreCutOffWhenOthersWait, TestTheOldestMakesRoom
//	long patches, exports that nobody reads          here TestMemoryUnderLoads
//	pages and streams of feeds that nobody reads     here TestMemoryUnderLoads, adapters/httpapi TestFollowersThatDoNotReadCostLittle, TestAStreamReadsSmallPages
//	slow, many and half-closed connections, panics  internal/proof/hygiene TestScenarios, adapters/httpapi TestAPanicIs500AndTheServerLives
//	many headers, long paths                        here TestBodies
//	odd request lines and paths                     here TestRequestLines, adapters/httpapi TestPathsThatAreNotCanonicalAre404, FuzzPath
//
//	Storage
//	SIGKILL                                         internal/proof/kill TestKills
//	loss of power                                   internal/proof/powerloss TestNothingAcknowledgedIsLost, TestControlsLose
//	full disk, I/O errors, busy                     internal/proof/faults TestTheNthCallToTheDiskFails, storage/sqlite TestFull, TestBusy
//	files that are no store                         storage/sqlite TestRefusedFilesAreUnchanged
//	killed migration, clock, backup                 storage/sqlite TestMigrationKilledAtEachStatement, internal/proof/faults TestAClockThatGoesBack, TestBackupUnderLoad
//	SIGTERM under load                              examples/vitrine TestStoppingUnderLoad
//
//	Import
//	uploads that fill the disk or hold every slot   here TestUploadsFillNoDisk, adapters/httpapi TestUploadsHaveSlots, TestTheSlowestUploadMakesRoom
//	32 uploads of large reviews and titles at once  here TestMemoryUnderLoads, reviews TestALargeReviewWaitsUntilTheGateHasRoom, TestAnImportIsOutsideTheGateWhileItWaitsForItsSource
//	long lines, gzip bombs, many problems           here TestImports, reviews TestMemoryDoesNotGrowWithTheFile, TestMemoryOfAnImportDoesNotGrowWithTheFile
//	one bad line among many, BOM, CRLF, no end      here TestTheOneBadLine, reviews TestFilesAreReadAsTheyAre
//	dates, zones, lengths                           reviews TestTimestampsKnowTheCalendar, TestSamplesHaveTheirProblems
//	kill and resume, run twice                      storage/sqlite TestAKilledImportCanBeRepeated, reviews TestImportTwiceChangesNothing
//
//	Webhooks
//	addresses within, by name or by redirect        here TestWebhooks, adapters/webhook TestGuard, TestPostGoesToAllowedAddressesOnly
//	slow, endless and long answers                  here TestWebhooks, adapters/webhook TestPostReadsNoMoreThanItMust, TestPostWaits15Seconds
//	secrets and URLs in logs, errors and files      here TestWebhooks, adapters/webhook TestSecretsAreNowhere, TestSecretsAreNotPrinted, TestParseRefuses
//	altered and repeated deliveries                 internal/proof/webhook TestTheLibraryRefusesWhatIsNotADelivery
//
// Signatures are compared in constant time by the library that verifies them.
//
// The long form, with uploads of a gigabyte, crowds of a thousand clients that stay, and every mutant:
//
//	go test -tags proof ./internal/proof/attack -v -timeout 0 -args -megabytes 1024 -connections 1000 -staying 1m -disk -loads -mutants
package attack
