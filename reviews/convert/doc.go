// Package convert turns tables of reviews, as shops export them, into the import format of package reviews. It reads
// JSON and CSV, with or without gzip, separated by commas, semicolons, tabs or bars, with line breaks inside quotes.
// The character set of what is no UTF-8 is guessed, which a note says, unless it is Windows-1252; a table that two sets
// read differently, and as likely, is ErrInvalid.
//
//	mapping := convert.Mapping{
//		"collection_id": "product_handle", "rating": "rating", "body": "body",
//		"created": "review_date", "author_name": "reviewer_name",
//	}
//	in := convert.Request{File: file, To: out, Mapping: mapping, Source: "shop.example.test"}
//	result, err := convert.Convert(ctx, in)
//
// Look reads the beginning of a file and guesses the mapping from the names of its columns and from their cells. What
// Convert writes, reviews.Check accepts: it is checked before it is written.
//
// # Rows
//
//   - The first row has the names of the columns. An optional line before it, such as "sep=;", names the separator.
//   - A row becomes one review. Rows of the same collection become one line of the output, wherever they are in the
//     file, and replies come after the reviews that they reply to. Collections are ordered by id.
//   - A row that cannot be converted is rejected with all reasons, and the others go on. Request.Rejects gets it as
//     CSV, with two more columns for its line and the reasons, so that people mend it and convert that file again. If
//     the table is not UTF-8, or begins with a byte order mark, so does that file, since spreadsheet programs need one.
//   - A row must have as many cells as there are columns, of which there are at most 1,000. A row may have 1 MiB. Empty
//     cells behind the last column are left out, unless all cells fit their columns only if one goes on in the next.
//
// # JSON
//
// JSON is an array of rows, one row after another, or has them in lists: the member rows of the mapping is the JSON
// pointer to the lists, in which * stands for each element of an array and each member of an object. A row is an
// object; a text or a number in its place is rejected, and a note names lists that are not read. Its columns are the
// JSON pointers to its texts, numbers and truth values:
//
//	/rating   /user/name   /tags/0   of the row
//	../sku                           of the nearest object above the list that has it
//	#                                the key of the row, where * stands for the members of an object
//
// What is before the first * is read while it arrives, so the members of these objects are known only to lists behind
// them. A row, and what is below the first *, may have 16 MiB. The line of a row is that where this begins.
//
// # Quotes
//
// A cell in quotes may have separators and line breaks, and in it a quote is doubled. Where a quote was lost, a row
// has the lines of other rows. Such rows are doubtful, and text inside of a quoted cell never becomes a review:
//
//   - A row is rejected if a line inside of a quoted cell looks like a row by itself: it has as many cells as there are
//     columns, and numbers, dates, identifiers and addresses where most rows have them.
//   - If there is a quote where none can be, such as at the end of a cell that did not begin with one, a quote before
//     it was lost. All rows from the last one whose quotes are certain to be right are rejected, as one piece.
//   - The reason names the lines, and how many there are. Request.Rejects gets them as they are in the file. Reading
//     goes on behind them.
//   - Where a quote may be open or cells are missing, the line and the reason follow in Request.Rejects in a row of
//     their own, which is no review. So what nobody has mended is rejected again. In that file quotes are never text.
//   - A table whose first row has lost a quote is refused: its columns would have the names of others.
//   - A row of more than 1 MiB is rejected as a whole, up to where its last quote is closed, however far that is.
//
// In a table that has quotes, but no cell that both begins and ends with one, quotes are text if the lines are right
// so. Where the first rows have many quotes that are not doubled, as in a title TV 55", these are text. A note says so.
//
// # Values
//
//   - A rating is a number from above 0 to Request.Scale, such as 4, 4.5 or 4,5, or it says its own scale: 4/5, "4 out
//     of 5", 80 %, 4½, or characters of which some are ★. It becomes an integer from 1 to 100. Without a scale each
//     column has 5, 10 or 100, the lowest that nearly all of its first 1,000 ratings do not exceed, and a note says
//     which. If a later rating exceeds it, Convert fails and writes nothing. The scale of each row may be in a column.
//   - The form ="0012", with which spreadsheets keep zeros, is 0012, and entities of HTML in titles and names are the
//     characters that they stand for. Where the first rows have \N, several NULL, or \' or \", the table is a dump of a
//     database: \N and NULL are empty, and \n and the like are what they stand for. A note says so.
//   - Rows that Mapping leaves out with skip are counted in Result.Skipped, and not rejected.
//   - What the shop has answered is kept in the subparts reply, reply_created and reply_author. Its date becomes one of
//     the import format if it is readable, and stays as it is otherwise. A row that names another one in parent_id and
//     has no rating, as the answers in tables of WooCommerce, becomes these subparts of that one; a note counts them. A
//     second answer of a review, and an answer to an answer, are rejected.
//   - A date may be in ISO 8601, in digits with the year first or last, have the name of a month, or be the seconds or
//     milliseconds since 1970. Without a zone it is UTC, or of Request.Zone. The first 1,000 rows, or 256
//     KiB, show for each separator (03/04/2019, 03.04.2019, 03-04-2019) whether the day or the month comes first: a
//     number above 12 is a day. If no date has one, the month is first with a slash, and the day with a dot or a dash.
//     A note names a later row that shows the opposite. Request.Dates decides for all rows.
//   - The id of a collection becomes its Base64. The title of a collection is that of its first row, or the id.
//   - A review without a column of ids gets one that is made from its content, so converting the file again gives the
//     same ids.
//   - HTML in a body is reduced to paragraphs and links. What only looks like a tag, such as <ann@example.com>, stays
//     text. A text without tags of paragraphs and lists becomes a paragraph for each line.
//   - A review has the author_id of its row if that is not empty, and otherwise the name, email and address of the
//     author.
//
// Memory does not grow with the file: rows are sorted in temporary files. The reviews of one collection, at most
// Request.MaxLine bytes, are in memory together.
package convert
