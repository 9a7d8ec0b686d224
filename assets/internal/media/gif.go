package media

import "encoding/binary"

// The blocks of a GIF, by their first byte, and its extensions, by their second.
const (
	gifExtension = 0x21
	gifFrame     = 0x2c
	gifTrailer   = 0x3b

	gifControl     = 0xf9 // how the next frame is shown
	gifApplication = 0xff
)

// gifLoop is the extension that says how often an animation is shown, without the number.
const gifLoop = "\x21\xff\x0bNETSCAPE2.0\x03\x01"

// cleanGIF keeps the frames, how they are shown, and how often. It keeps no comments, no other extensions such as XMP,
// and nothing behind the end.
func cleanGIF(c *copier) (info Info, err error) {
	info = Info{Orientation: 1}
	head, err := c.take(13)
	if err != nil {
		return info, err
	}
	info.Width, info.Height = int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	if err := c.write(head); err != nil {
		return info, err
	}
	if err := c.copy(gifColors(head[10])); err != nil {
		return info, err
	}
	for frames := 0; ; {
		head, err := c.peek(1)
		if err != nil {
			return info, err
		}
		switch head[0] {
		case gifTrailer:
			if frames == 0 {
				return info, c.damaged("it ends without a picture")
			}
			return info, c.write(head)
		case gifFrame:
			if head, err = c.peek(10); err != nil {
				return info, err
			}
			frames++
			info.Animated = frames > 1
			if err = c.copy(10 + gifColors(head[9]) + 1); err == nil { // and the size of codes
				err = gifData(c, true)
			}
		case gifExtension:
			info.Alpha, err = gifExtend(c, info.Alpha)
		default:
			return info, c.damaged("want a frame, an extension or the end, got a block 0x%02x", head[0])
		}
		if err != nil {
			return info, err
		}
	}
}

// gifExtend copies an extension if it is of those that stay. Of the others it leaves out all.
func gifExtend(c *copier, alpha bool) (bool, error) {
	head, err := c.peek(2)
	if err != nil {
		return alpha, err
	}
	if head[1] == gifControl {
		if head, err = c.peek(4); err != nil {
			return alpha, err
		}
		alpha = alpha || head[3]&1 != 0
		if err := c.copy(2); err != nil {
			return alpha, err
		}
		return alpha, gifData(c, true)
	}
	if head[1] == gifApplication {
		if head, err = c.peek(len(gifLoop) + 3); err != nil { // with the number and the end
			return alpha, err
		}
		if hasPrefix(head, gifLoop) && head[len(head)-1] == 0 {
			return alpha, c.copy(int64(len(head)))
		}
	}
	if err := c.skip(2); err != nil {
		return alpha, err
	}
	return alpha, gifData(c, false)
}

// gifData copies or leaves out blocks of data, each of which begins with its length, to the one that is empty.
func gifData(c *copier, keep bool) error {
	for {
		head, err := c.peek(1)
		if err != nil {
			return err
		}
		length := int64(head[0])
		if keep {
			err = c.copy(1 + length)
		} else {
			err = c.skip(1 + length)
		}
		if err != nil || length == 0 {
			return err
		}
	}
}

// gifColors returns how many bytes the color table has that the flags of a picture or a frame announce.
func gifColors(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}
