import { decodeBase58 } from '../../solana/base58.ts';

/** Bytes, or the error as Rust's `bs58` crate formats it (`decode::Error`, `{:?}`). */
type Base58Result = Readonly<{ bytes: Uint8Array } | { fault: string }>;

const CHARACTER = /[1-9A-HJ-NP-Za-km-z]/;
const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
  '\\': '\\\\',
};

/** Formats a character like Rust's `{:?}`. */
function rustChar(character: string): string {
  const printable = character >= ' ' && character !== '\u007f';
  return `'${ESCAPES[character] ?? (printable ? character : `\\u{${character.charCodeAt(0).toString(16)}}`)}'`;
}

function faultOf(text: string): string {
  let index = 0;
  for (const character of text) {
    if (character > '\u007f') return `NonAsciiCharacter { index: ${index} }`;
    if (!CHARACTER.test(character)) {
      return `InvalidCharacter { character: ${rustChar(character)}, index: ${index} }`;
    }
    index++;
  }
  throw new RangeError('no error found: the text is valid base58');
}

/** Source: Rust `bs58` 0.5. */
export function decodeBase58Text(text: string): Base58Result {
  const bytes = decodeBase58(text);
  return bytes === null ? { fault: faultOf(text) } : { bytes };
}
