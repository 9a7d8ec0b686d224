package media

const pngSignature = "\x89PNG\r\n\x1a\n"
