import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Replayed } from './replay.ts';

export type DecoderFile = Readonly<{
  /** Path below src/; `localnet/` is packages/localnet/src. */
  file: string;
  decoders: readonly string[];
}>;

const VERBS = 'decode|parse|read|scan|unpack|locate|inflate';
/** Exported functions and arrows with the name of a decoder. */
const NAMED = new RegExp(
  `^export (?:async )?(?:function\\*? ((?:${VERBS})[A-Z]\\w*|decompress)\\b|const ((?:${VERBS})[A-Z]\\w*) =\\s+(?:async )?\\()`,
  'gm',
);
/** Classes with such a name. */
const CLASS = /^export (?:abstract )?class \w*(?:Reader|Decoder|Parser|Scanner|Frames)\b/m;
/** Calls that decode, in functions of any name. */
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

/** The named decoders of a file; null for a file that does not decode. */
export function decodersIn(text: string): readonly string[] | null {
  const names = [...text.matchAll(NAMED)].map(([, declared, arrow]) => declared ?? arrow ?? '');
  return names.length > 0 || CLASS.test(text) || PRIMITIVE.test(text) ? names : null;
}

const root = join(import.meta.dirname, '..', '..', '..');
const localnet = join(root, 'packages', 'localnet', 'src');

const pathOf = (file: string): string =>
  file.startsWith('localnet/') ? join(localnet, file.slice('localnet/'.length)) : join(root, 'src', file);

export function decoderFiles(): DecoderFile[] {
  const listOf = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [...listOf(join(root, 'src')), ...listOf(localnet).map((file) => `localnet/${file}`)]
    .filter((file) => file.endsWith('.ts') && !/\.(test|bench)\.ts$/.test(file))
    .sort()
    .flatMap((file) => {
      const decoders = decodersIn(readFileSync(pathOf(file), 'utf8'));
      return decoders === null ? [] : [{ file, decoders }];
    });
}

/** Decoders that no target ran with its seeds and corpus, and that have no reason for that. */
export function idleDecoders(
  files: readonly DecoderFile[],
  targets: readonly Pick<Replayed, 'ran'>[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  return files
    .filter(({ file }) => reasons[file] === undefined)
    .flatMap(({ file, decoders }) => {
      const ran = new Set(targets.flatMap((target) => [...(target.ran.get(file) ?? [])]));
      if (ran.size === 0) return [`${file}: nothing of it`];
      return decoders.filter((name) => !ran.has(name)).map((name) => `${file}: ${name}`);
    })
    .filter((one) => reasons[one] === undefined);
}
