package httpapi

import (
	"github.com/vitrine-go/vitrine/appsvc"
)

// comments serves GET /apps/{id}/comments: the comments of an app with their replies, newest first. 200 with
// {"comments":[Comment]} and a Link to the next page if there is one. 400 for open, limit or after; 404.
func (a appRoutes) comments(c *call) error {
	in := appsvc.ListCommentsRequest{AppID: c.params[0], Open: c.query.flag("open"), After: c.query.cursor("after"),
		Limit: c.query.count("limit")}
	list, err := askPage(c, a.as(c).ListComments, in, "after")
	return c.member("comments", list, err)
}

// createComment serves POST /apps/{id}/comments with {"version", "element", "pointer", "text", "mentions"}. 201 with
// the Comment. 400; 403 for a key that may not change the app; 404 for an app or a version; 422 for an unknown element,
// somebody who cannot be mentioned, and too many comments.
func (a appRoutes) createComment(c *call) error {
	var body struct {
		appsvc.CreateCommentRequest
		Element *string `json:"element"` // null is none, as in the Comment
		Pointer *string `json:"pointer"`
	}
	if err := c.decode(&body); err != nil {
		return err
	}
	in := body.CreateCommentRequest
	in.AppID = c.params[0]
	if body.Element != nil {
		in.Element = *body.Element
	}
	if body.Pointer != nil {
		in.Pointer = *body.Pointer
	}
	return c.json(ask(c, a.as(c).CreateComment, in))
}

// updateComment serves PATCH /apps/{id}/comments/{comment} with {"text", "mentions"} or {"resolved"}: 200 with the
// Comment. 400; 403 for a comment of somebody else; 404; 422.
func (a appRoutes) updateComment(c *call) error {
	in := appsvc.UpdateCommentRequest{AppID: c.params[0], ID: c.params[1]}
	return c.json(submit(c, a.as(c).UpdateComment, in))
}

// deleteComment serves DELETE /apps/{id}/comments/{comment}: 204. 403 for a comment of somebody else; 404.
func (a appRoutes) deleteComment(c *call) error {
	return a.as(c).DeleteComment(c.r.Context(), c.params[0], c.params[1])
}

// reply serves POST /apps/{id}/comments/{comment}/replies with {"text", "mentions"}: 201 with the Reply. 400; 403; 404;
// 422.
func (a appRoutes) reply(c *call) error {
	return c.json(submit(c, a.as(c).ReplyToComment, appsvc.ReplyRequest{AppID: c.params[0], Comment: c.params[1]}))
}
