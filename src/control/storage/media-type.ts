/** Bytes at the beginning of a file that `mediaTypeOf` wants to see. */
export const MEDIA_HEAD_BYTES = 16;

type Signature = readonly [type: string, at: number, text: string];

/**
 * Formats that begin with a mark of their own. Source: MIME Sniffing Standard §6 (images, audio and video) and
 * glTF 2.0 §4.4 (GLB). Only what shows a picture or plays: nothing of these can run as a page.
 */
const signatures: readonly (readonly [Signature, ...Signature[]])[] = [
  [['image/png', 0, '\x89PNG\r\n\x1a\n']],
  [['image/jpeg', 0, '\xff\xd8\xff']],
  [['image/gif', 0, 'GIF87a']],
  [['image/gif', 0, 'GIF89a']],
  [
    ['image/webp', 0, 'RIFF'],
    ['image/webp', 8, 'WEBPVP'],
  ],
  [['image/avif', 4, 'ftypavif']],
  [
    ['audio/wave', 0, 'RIFF'],
    ['audio/wave', 8, 'WAVE'],
  ],
  [['audio/mpeg', 0, 'ID3']],
  [['video/mp4', 4, 'ftypisom']],
  [['video/mp4', 4, 'ftypmp4']],
  [['video/webm', 0, '\x1a\x45\xdf\xa3']],
  [['model/gltf-binary', 0, 'glTF\x02\0\0\0']],
];

/**
 * The media type that a file's first bytes show; null for any other. It is the same whoever sends the file, so that
 * nobody can give another's picture a type that no browser shows.
 */
export function mediaTypeOf(head: Uint8Array): string | null {
  const text = Buffer.from(head.subarray(0, MEDIA_HEAD_BYTES)).toString('latin1');
  const found = signatures.find((parts) =>
    parts.every(([, at, signature]) => text.startsWith(signature, at)),
  );
  return found?.[0][0] ?? null;
}
