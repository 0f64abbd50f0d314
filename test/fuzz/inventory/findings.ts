import { type DecoderFile, isCoveredBy } from './decoders.ts';
import type { Replayed } from './replay.ts';

/** Decoding files without a target or a reason for having none. */
export function uncoveredFiles(
  files: readonly DecoderFile[],
  targets: readonly Pick<Replayed, 'covers'>[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  return files
    .map(({ file }) => file)
    .filter((file) => reasons[file] === undefined)
    .filter((file) => !targets.some(({ covers }) => isCoveredBy(file, covers)));
}

/** Decoders of covered files that none of their targets ran. */
export function idleDecoders(
  files: readonly DecoderFile[],
  targets: readonly Pick<Replayed, 'covers' | 'ran'>[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  return files
    .filter(({ file }) => reasons[file] === undefined)
    .flatMap(({ file, decoders }) => {
      const feeding = targets.filter(({ covers }) => isCoveredBy(file, covers));
      if (feeding.length === 0) return [];
      const ran = new Set(feeding.flatMap((target) => [...(target.ran.get(file) ?? [])]));
      if (ran.size === 0) return [`${file}: nothing of it`];
      return decoders
        .filter((name) => !ran.has(name))
        .map((name) => `${file}: ${name}`)
        .filter((one) => reasons[one] === undefined);
    });
}
