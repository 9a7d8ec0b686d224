package media

// The blocks of a GIF, by their first byte, and its extensions, by their second.
const (
	gifExtension = 0x21
	gifFrame     = 0x2c
	gifEnd       = 0x3b

	gifControl = 0xf9 // how the next frame is shown
)

// gifLoop is the extension that says how often an animation is shown. The number and a zero follow.
const gifLoop = "\x21\xff\x0bNETSCAPE2.0\x03\x01"

// cleanGIF keeps the frames, how they are shown, and how often. It keeps no comments, no other extensions such as XMP,
// and nothing behind the end.
func cleanGIF(c *copier) {
	head := c.peek(13)
	c.info.Width, c.info.Height = int(little(head[6:8])), int(little(head[8:10]))
	c.copy(13 + gifColors(head[10]))
	for frames := 0; c.err == nil; {
		head := c.peek(1)
		switch head[0] {
		case gifEnd:
			if frames == 0 {
				c.damaged("it ends without a picture")
			}
			c.write(head)
			return
		case gifFrame:
			frames++
			c.info.Animated = frames > 1
			c.copy(10 + gifColors(c.peek(10)[9]) + 1) // and the size of codes
			gifData(c, c.copy)
		case gifExtension:
			loop := c.head(len(gifLoop) + 3)
			switch head := c.peek(4); {
			case head[1] == gifControl:
				c.info.Alpha = c.info.Alpha || head[3]&1 != 0
				c.copy(2)
				gifData(c, c.copy)
			case hasPrefix(loop, gifLoop) && len(loop) == len(gifLoop)+3 && loop[len(loop)-1] == 0:
				c.copy(int64(len(loop)))
			default:
				c.skip(2)
				gifData(c, c.skip)
			}
		default:
			c.damaged("want a frame, an extension or the end, got a block 0x%02x", head[0])
		}
	}
}

// gifData calls each for the blocks of data up to the one that is empty. Each begins with its length.
func gifData(c *copier, each func(n int64)) {
	for length := int64(-1); length != 0 && c.err == nil; {
		length = int64(c.peek(1)[0])
		each(1 + length)
	}
}

// gifColors returns how many bytes the color table has that the flags of a picture or a frame announce.
func gifColors(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}
