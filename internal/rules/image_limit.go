package rules

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/picture"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var imageLimit = &Rule{
	Name: "image-limit", Category: Payload, Severity: "by provider; warning in logs and in bodies without a model, info in datasets and traces",
	Summary:    "An image is larger than the provider accepts, or there are too many images",
	Points:     []profile.Point{profile.ImageSide, profile.ImageManySide, profile.ImageBytes, profile.ImageSoftBytes, profile.ImageCount, profile.ImageSoftCount},
	Strategies: []string{"text"},
	What: `Checks the images in messages and in tool results. Anthropic rejects

- a side of more than 8,000 pixels, or of more than 2,000 if there are more than 20 images
- an image of more than 10 MB in base64. Other hosts of the models accept 5 MB.
- more than 600 images, or more than 100 for models with a small context

Other providers have [other limits](../profiles.md#fields). toolguard reads the size from the header
of a PNG, JPEG, GIF or WebP image. It does not check images that are only an address.`,
	Why: `The history is sent with every request, so one such image stops the session. Full-page screenshots
are a common cause.`,
	Repair: `- ` + "`text`" + ` (default, unsafe): replace the image by a text with its type and size.

If there are too many images, toolguard replaces the first ones. If images are too large only because
there are more than 20, it replaces as few as possible.`,
	Args: "--send",
	Bad: `[{"role":"user","content":[{"type":"text","text":"What is on the page?"},
 {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABaAAACF6CAIAAAA="}}]},
 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"A list."}]},
 {"role":"user","content":"Which?"}]`,
	Good: `[{"role":"user","content":[{"type":"text","text":"What is on the page?"},
 {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABaAAAAOECAIAAAA="}}]},
 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"A list."}]},
 {"role":"user","content":"Which?"}]`,
	Check: func(c *Context) {
		limits := &c.Profile.Images
		if *limits == (profile.ImageLimits{}) {
			return
		}
		var rest []anImage // those that no finding is about
		images := c.images()
		beside := c.besideMany(images)
		for i := range images {
			if !c.tooLarge(&images[i], beside[i]) {
				rest = append(rest, images[i])
			}
		}
		most, at := limits.Count, profile.ImageCount
		if soft := limits.SoftCount; soft > 0 && (most == 0 || len(rest) <= most) {
			most, at = soft, profile.ImageSoftCount
		}
		if most > 0 && len(rest) > most {
			c.aboutImages(rest[:len(rest)-most], at, fmt.Sprintf("the history has %d images; the %s accepts %d", len(images), c.Profile.Title, most))
		}
	},
}

// An anImage is an image of the conversation that the provider sees.
type anImage struct {
	picture.Header
	length  int64 // of its data, in base64
	message int32
	block   source.Span
}

// images returns the images of the conversation.
func (c *Context) images() (out []anImage) {
	add := func(message int32, block source.Span) {
		if h, length, is := c.Image(block); is {
			out = append(out, anImage{h, length, message, block})
		}
	}
	for i := range c.Blocks {
		b := &c.Blocks[i]
		switch {
		case c.hidden(b.Message) || c.Messages[b.Message].Has(transcript.MessageReplay):
		case b.Kind == transcript.BlockMedia, b.Kind == transcript.BlockOther && c.Knows(transcript.MemberImage):
			add(b.Message, b.Span)
		case b.Kind == transcript.BlockResult && c.Results[b.Ref].Mixed:
			list := c.Look(transcript.MemberResultBlocks, b.Span)
			if !list.Present() {
				list.Span = c.Results[b.Ref].Payload
			}
			for _, e := range c.Elements(list.Span) {
				add(b.Message, e)
			}
		}
	}
	return out
}

// beyond reports whether a provider accepts an image in no request at all.
func (x *anImage) beyond(limits *profile.ImageLimits) bool {
	return limits.Side > 0 && max(x.Width, x.Height) > limits.Side || limits.Bytes > 0 && x.length > limits.Bytes
}

// besideMany returns the images, by their indexes, that are too large beside the others and have to
// go: the first ones, until the others are no longer many, or all if they are fewer than that. Images
// that are too long for some hosts come before the others, because they are to go anyway.
func (c *Context) besideMany(images []anImage) map[int]bool {
	limits := &c.Profile.Images
	if limits.ManySide == 0 {
		return nil
	}
	var long, other []int
	surplus := -limits.Many
	for i := range images {
		x := &images[i]
		if x.beyond(limits) {
			continue
		}
		surplus++
		switch {
		case max(x.Width, x.Height) <= limits.ManySide:
		case limits.SoftBytes > 0 && x.length > limits.SoftBytes:
			long = append(long, i)
		default:
			other = append(other, i)
		}
	}
	out := map[int]bool{}
	for _, i := range append(long, other...) {
		if len(out) < surplus {
			out[i] = true
		}
	}
	return out
}

// tooLarge reports an image that is too large, be it only beside many others.
func (c *Context) tooLarge(x *anImage, beside bool) bool {
	limits, side := &c.Profile.Images, max(x.Width, x.Height)
	switch {
	case limits.Side > 0 && side > limits.Side:
		c.aboutImages([]anImage{*x}, profile.ImageSide, fmt.Sprintf("the image has %d × %d pixels; the %s accepts sides of %d", x.Width, x.Height, c.Profile.Title, limits.Side))
	case limits.Bytes > 0 && x.length > limits.Bytes:
		c.aboutImages([]anImage{*x}, profile.ImageBytes, c.tooLong(x, limits.Bytes))
	case beside:
		c.aboutImages([]anImage{*x}, profile.ImageManySide, fmt.Sprintf("the image has %d × %d pixels; beside more than %d images, the %s accepts sides of %d", x.Width, x.Height, limits.Many, c.Profile.Title, limits.ManySide))
	case limits.SoftBytes > 0 && x.length > limits.SoftBytes:
		c.aboutImages([]anImage{*x}, profile.ImageSoftBytes, c.tooLong(x, limits.SoftBytes))
	default:
		return false
	}
	return true
}

// tooLong says that an image has more bytes than are accepted.
func (c *Context) tooLong(x *anImage, most int64) string {
	return fmt.Sprintf("the image has %d bytes in base64; the %s accepts %d", x.length, c.Profile.Title, most)
}

// aboutImages emits a finding about images.
func (c *Context) aboutImages(images []anImage, at profile.Point, message string) {
	first, cell := &images[0], c.cell(at)
	f := Finding{Severity: severityOf(cell), Span: first.block, Message: message, Refusal: cell.Text}
	switch {
	case c.sent():
	case c.Use == transcript.UseLog:
		f.Severity = min(f.Severity, Warning) // the agent may shrink it
	default:
		f.Severity = min(f.Severity, Info)
	}
	do := &operation.ImageTexts{}
	for i := range images {
		x := &images[i]
		do.At = append(do.At, x.block)
		do.Texts = append(do.Texts, fmt.Sprintf("[toolguard] Image (%s, %d × %d pixels), removed.", x.Type, x.Width, x.Height))
	}
	title := "replace the image by a text"
	if len(images) > 1 {
		title = fmt.Sprintf("replace the first %d images by texts", len(images))
	}
	f.Fix = c.op(c.turn(first.message), operation.Unsafe, title, do)
	c.report(first.message, f)
}
