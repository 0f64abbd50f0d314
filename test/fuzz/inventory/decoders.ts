import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file below src/ that makes values of bytes or text. */
export type DecoderFile = Readonly<{
  /** Path below src/. */
  file: string;
  /** The functions that say so by their names. */
  decoders: readonly string[];
}>;

const VERBS = 'decode|parse|read|scan|unpack|locate|inflate';
/** Exported functions and arrows that are called after what decoders do. */
const NAMED = new RegExp(
  `^export (?:async )?(?:function\\*? ((?:${VERBS})[A-Z]\\w*|decompress)\\b|const ((?:${VERBS})[A-Z]\\w*) =\\s+(?:async )?\\()`,
  'gm',
);
/** Classes that are called after them. */
const CLASS = /^export (?:abstract )?class \w*(?:Reader|Decoder|Parser|Scanner|Frames)\b/m;
/** What is called by whoever makes values of bytes or text, however the function around it is called. */
const PRIMITIVE = new RegExp(
  [
    ...['JSON\\.parse\\(', '\\bparseJson\\(', '\\.safeParse\\(', '\\breadOrNull\\(', '\\bdecodedOrNull\\('],
    ...['new ByteReader\\(', 'new ProtobufReader\\(', 'new HttpParser\\(', '\\bBusboy\\(', 'URL\\.parse\\('],
    ...[
      'new URLSearchParams\\(',
      '(?:gunzip|inflate|inflateRaw|brotliDecompress|zstdDecompress)(?:Sync)?\\b',
    ],
    ...["from 'smol-toml'", 'CID\\.parse\\('],
  ].join('|'),
);

/** What of a file's text says that it decodes; null where nothing does. */
export function decodersIn(text: string): readonly string[] | null {
  const names = [...text.matchAll(NAMED)].map(([, declared, arrow]) => declared ?? arrow ?? '');
  return names.length > 0 || CLASS.test(text) || PRIMITIVE.test(text) ? names : null;
}

/** Every file below a folder that decodes something, by the signs above. */
export function decoderFiles(root: string): DecoderFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|bench)\.ts$/.test(file))
    .sort()
    .flatMap((file) => {
      const decoders = decodersIn(readFileSync(join(root, file), 'utf8'));
      return decoders === null ? [] : [{ file, decoders }];
    });
}

/** Those, and the files without a sign that targets name. */
export function withNamed(files: readonly DecoderFile[], covers: readonly string[]): DecoderFile[] {
  const known = new Set(files.map(({ file }) => file));
  const named = [...new Set(covers)].filter((path) => path.endsWith('.ts') && !known.has(path));
  return [...files, ...named.map((file) => ({ file, decoders: [] }))];
}

/** Whether a target says that it covers a file: by its path, or by a folder that it is in. */
export const isCoveredBy = (file: string, covers: readonly string[]): boolean =>
  covers.some((path) => path === file || (path.endsWith('/') && file.startsWith(path)));
