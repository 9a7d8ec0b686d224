package assets

// For tests of the records.
var (
	AuditRecords = auditRecords
	RebuildIndex = rebuildIndex
	EraseRemoved = eraseRemoved
)
