// A ZIP file of some files, not compressed: pictures are already.

const CRC = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** The check sum of some bytes (CRC-32). */
function checksum(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ CRC[(value ^ byte) & 0xff];
  return (value ^ 0xffffffff) >>> 0;
}

/** Numbers of 2 or 4 bytes, the lowest byte first. */
function numbers(...pairs) {
  return new Uint8Array(pairs.flatMap(([value, size]) => Array.from({ length: size }, (_, place) => (value >>> (8 * place)) & 0xff)));
}

/** Files, each a name and its bytes, as one file: each with a header before it, and a list of all at the end. */
export function zip(files) {
  const parts = [], list = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const text = new TextEncoder().encode(name);
    const about = [[20, 2], [0x800, 2], [0, 2], [0, 2], [0x21, 2], [checksum(bytes), 4], [bytes.length, 4], [bytes.length, 4], [text.length, 2], [0, 2]];
    const header = numbers([0x04034b50, 4], ...about);
    list.push(numbers([0x02014b50, 4], [20, 2], ...about, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), text);
    parts.push(header, text, bytes);
    at += header.length + text.length + bytes.length;
  }
  const size = list.reduce((sum, part) => sum + part.length, 0);
  const end = numbers([0x06054b50, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [size, 4], [at, 4], [0, 2]);
  return new Blob([...parts, ...list, end], { type: "application/zip" });
}
