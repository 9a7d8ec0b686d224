package main

// The components that power the elements of the sample apps, as they were given by the designer. The second version of
// the poll requires more than the first, so a check of it finds elements that it would break.
const (
	demoFeed10 = `{
	"name": "@demo/feed", "version": "1.0.0", "main": "https://cdn.demo.test/feed-1.0.0.js",
	"description": "A list of posts, newest first",
	"configSchema": {
		"type": "object", "additionalProperties": false,
		"properties": {
			"limit": {"title": "Posts", "type": "integer", "minimum": 1, "maximum": 100, "default": 20},
			"theme": {"title": "Theme", "enum": ["light", "dark"], "default": "light"}
		}
	}
}`
	demoFeed11 = `{
	"name": "@demo/feed", "version": "1.1.0", "main": "https://cdn.demo.test/feed-1.1.0.js",
	"description": "A list of posts, newest first, from a folder or a search",
	"configSchema": {
		"type": "object", "additionalProperties": false,
		"properties": {
			"heading": {"title": "Heading", "type": "string", "maxLength": 80},
			"limit": {"title": "Posts", "type": "integer", "minimum": 1, "maximum": 500, "default": 20},
			"theme": {"title": "Theme", "description": "Auto follows the visitor's system.", "enum": ["light", "dark", "auto"], "default": "auto"},
			"source": {
				"title": "Source", "description": "Which posts are shown",
				"oneOf": [
					{"title": "A search", "type": "object", "required": ["query"], "additionalProperties": false,
						"properties": {"query": {"title": "Words", "type": "string", "minLength": 1, "maxLength": 120}}},
					{"title": "A tag", "type": "object", "required": ["tag"], "additionalProperties": false,
						"properties": {"tag": {"title": "Tag", "type": "string", "minLength": 1},
							"language": {"title": "Language", "enum": ["en", "de", "fr", "es", "it"]}}}
				]
			},
			"hidden": {"title": "Hidden words", "description": "Posts with one of these words are not shown.",
				"type": "array", "maxItems": 50, "items": {"type": "string", "minLength": 2}}
		}
	}
}`
	demoPoll1 = `{
	"name": "@demo/poll", "version": "1.0.0", "main": "https://cdn.demo.test/poll-1.0.0.js",
	"description": "A question with answers to choose from",
	"configSchema": {
		"type": "object", "required": ["question", "answers"], "additionalProperties": false,
		"properties": {
			"question": {"title": "Question", "type": "string", "minLength": 1, "maxLength": 140},
			"introduction": {"title": "Introduction", "description": "Plain text above the answers", "type": "string", "maxLength": 600},
			"answers": {
				"title": "Answers", "type": "array", "minItems": 2, "maxItems": 8,
				"items": {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {
					"text": {"title": "Text", "type": "string", "minLength": 1, "maxLength": 80},
					"color": {"title": "Color", "type": "string", "format": "color", "pattern": "^#[0-9a-f]{6}$", "default": "#3b5bdb"}
				}}
			},
			"style": {"title": "Style", "enum": ["bars", "cards", "list"], "default": "bars"},
			"closes": {"title": "Closes", "description": "The last day on which one can vote", "type": "string", "format": "date"},
			"results": {
				"title": "Results", "description": "When visitors see how others have voted",
				"oneOf": [
					{"title": "At any time", "type": "object", "required": ["show"], "additionalProperties": false,
						"properties": {"show": {"const": "always"}}},
					{"title": "After a number of votes", "type": "object", "required": ["show", "votes"], "additionalProperties": false,
						"properties": {"show": {"const": "votes"}, "votes": {"title": "Votes", "type": "integer", "minimum": 1, "maximum": 100000}}},
					{"title": "From a day on", "type": "object", "required": ["show", "day"], "additionalProperties": false,
						"properties": {"show": {"const": "day"}, "day": {"title": "Day", "type": "string", "format": "date"}}}
				]
			},
			"contact": {"title": "Contact", "description": "For questions about the poll", "type": "string", "format": "email"}
		}
	}
}`
	demoPoll2 = `{
	"name": "@demo/poll", "version": "2.0.0", "main": "https://cdn.demo.test/poll-2.0.0.js",
	"description": "A question with answers to choose from; every poll closes",
	"configSchema": {
		"type": "object", "required": ["question", "answers", "closes"], "additionalProperties": false,
		"properties": {
			"question": {"title": "Question", "type": "string", "minLength": 1, "maxLength": 140},
			"introduction": {"title": "Introduction", "description": "Plain text above the answers", "type": "string", "maxLength": 600},
			"answers": {
				"title": "Answers", "type": "array", "minItems": 2, "maxItems": 6,
				"items": {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {
					"text": {"title": "Text", "type": "string", "minLength": 1, "maxLength": 60},
					"color": {"title": "Color", "type": "string", "format": "color", "pattern": "^#[0-9a-f]{6}$", "default": "#3b5bdb"}
				}}
			},
			"style": {"title": "Style", "enum": ["bars", "list"], "default": "bars"},
			"closes": {"title": "Closes", "description": "The last day on which one can vote", "type": "string", "format": "date"},
			"several": {"title": "Several answers", "description": "Whether a visitor may choose more than one", "type": "boolean", "default": false}
		}
	}
}`
	demoCountdown = `{
	"name": "@demo/countdown", "version": "1.2.0", "main": "https://cdn.demo.test/countdown-1.2.0.js",
	"description": "The days and hours until something begins",
	"configSchema": {
		"type": "object", "required": ["title", "until"], "additionalProperties": false,
		"properties": {
			"title": {"title": "Title", "type": "string", "minLength": 1, "maxLength": 80},
			"until": {"title": "Until", "type": "string", "format": "date"},
			"size": {"title": "Size", "enum": ["small", "medium", "large"], "default": "medium"},
			"seconds": {"title": "With seconds", "type": "boolean", "default": false},
			"colors": {
				"title": "Colors", "type": "object", "additionalProperties": false,
				"properties": {
					"text": {"title": "Text", "type": "string", "format": "color", "pattern": "^#[0-9a-f]{6}$", "default": "#ffffff"},
					"background": {"title": "Background", "type": "string", "format": "color", "pattern": "^#[0-9a-f]{6}$", "default": "#1c3d5a"}
				}
			},
			"afterwards": {
				"title": "Afterwards", "description": "What is shown when the day has come",
				"oneOf": [
					{"title": "A text", "type": "object", "required": ["text"], "additionalProperties": false,
						"properties": {"text": {"title": "Text", "type": "string", "minLength": 1, "maxLength": 300}}},
					{"title": "A button to a page", "type": "object", "required": ["label", "page"], "additionalProperties": false,
						"properties": {"label": {"title": "Label", "type": "string", "minLength": 1, "maxLength": 40},
							"page": {"title": "Page", "type": "string", "format": "uri"}}}
				]
			}
		}
	}
}`
	demoMap = `{
	"name": "@demo/map", "version": "2.3.0", "main": "https://cdn.demo.test/map-2.3.0.js",
	"description": "Places on a map, with a text each",
	"configSchema": {
		"type": "object", "required": ["center"], "additionalProperties": false,
		"$defs": {
			"position": {"type": "object", "required": ["lat", "lon"], "additionalProperties": false, "properties": {
				"lat": {"title": "Latitude", "type": "number", "minimum": -90, "maximum": 90},
				"lon": {"title": "Longitude", "type": "number", "minimum": -180, "maximum": 180}
			}}
		},
		"properties": {
			"center": {"$ref": "#/$defs/position", "title": "Center"},
			"zoom": {"title": "Zoom", "description": "1 shows a continent, 18 a house.", "type": "integer", "minimum": 1, "maximum": 18, "default": 8},
			"layers": {"title": "Layers", "type": "array", "uniqueItems": true, "items": {"enum": ["ferries", "bicycles", "steps", "lifts"]}},
			"cluster": {"title": "Group near places", "type": "boolean", "default": true},
			"places": {
				"title": "Places", "type": "array", "maxItems": 200,
				"items": {"type": "object", "required": ["label", "position"], "additionalProperties": false, "properties": {
					"label": {"title": "Label", "type": "string", "minLength": 1, "maxLength": 60},
					"position": {"$ref": "#/$defs/position", "title": "Position"},
					"color": {"title": "Color", "type": "string", "format": "color", "pattern": "^#[0-9a-f]{6}$", "default": "#e8590c"},
					"note": {"title": "Note", "type": "string", "maxLength": 400},
					"page": {"title": "Page", "type": "string", "format": "uri"}
				}}
			}
		}
	}
}`
	demoAnalytics = `{
	"name": "@demo/analytics", "version": "0.4.2", "main": "https://cdn.demo.test/analytics-0.4.2.js",
	"description": "Counts views; shows nothing",
	"configSchema": {}
}`
)
