/** Bytes, or the error as Rust's `base64` crate formats it (`DecodeError`, `{:?}`). */
type Base64Result = Readonly<{ bytes: Uint8Array } | { fault: string }>;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PAD = 0x3d;
const sextets: ReadonlyMap<number, number> = new Map(
  Array.from(ALPHABET, (character, value) => [character.charCodeAt(0), value]),
);

const invalidByte = (index: number, byte: number): string => `InvalidByte(${index}, ${byte})`;

/** Finds an error in the last group of up to four characters, the only group that may have padding. */
function tailFault(bytes: Uint8Array, start: number): string | null {
  let symbols = 0;
  let firstPad = -1;
  for (let i = start; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === PAD) {
      if (i - start < 2) return invalidByte(i, byte);
      if (firstPad < 0) firstPad = i;
      continue;
    }
    if (firstPad >= 0) return invalidByte(firstPad, PAD);
    if (!sextets.has(byte)) return invalidByte(i, byte);
    symbols++;
  }
  if (symbols < 2) return `InvalidLength(${start + symbols})`;
  if ((bytes.length - start) % 4 !== 0) return 'InvalidPadding';
  const last = bytes[start + symbols - 1] as number;
  const unusedBits = symbols === 2 ? 0b1111 : symbols === 3 ? 0b11 : 0;
  return ((sextets.get(last) as number) & unusedBits) === 0
    ? null
    : `InvalidLastSymbol(${start + symbols - 1}, ${last})`;
}

function faultOf(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return null;
  const rest = bytes.length % 4;
  const last = bytes[bytes.length - 1] as number;
  // An invalid trailing character, such as a newline, takes precedence over other errors.
  if (rest === 1 && last !== PAD && !sextets.has(last)) return invalidByte(bytes.length - 1, last);
  const tail = bytes.length - (rest === 0 ? 4 : rest);
  for (let i = 0; i < tail; i++) {
    const byte = bytes[i] ?? 0;
    if (!sextets.has(byte)) return invalidByte(i, byte);
  }
  return tailFault(bytes, tail);
}

/** Standard base64 with canonical padding. Source: Rust `base64` 0.22, engine `STANDARD`. */
export function decodeBase64(text: string): Base64Result {
  const fault = faultOf(Buffer.from(text, 'utf8'));
  return fault === null ? { bytes: new Uint8Array(Buffer.from(text, 'base64')) } : { fault };
}
