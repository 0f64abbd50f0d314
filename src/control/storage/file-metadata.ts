/** What is known of a file besides its bytes. */
export type FileMetadata = Readonly<{
  /** As whoever sent it calls it. */
  name: string | null;
  /** Its media type. */
  type: string;
}>;

/** A type and subtype with at most a few parameters. Source: RFC 9110 §8.3.1, within tokens and plain values. */
const MEDIA_TYPE = /^[\w.+-]{1,63}\/[\w.+-]{1,127}(; ?[\w-]{1,32}=[\w.+-]{1,64}){0,3}$/;

const NAME_MAX_CHARACTERS = 255;

/** Control characters, and those that turn the direction of text: a name is to look like what it is. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}/\\]/gu;

/** A media type that may stand in a header; what is none becomes bytes of no type. */
const sanitizeType = (type: string): string =>
  MEDIA_TYPE.test(type) ? type.toLowerCase() : 'application/octet-stream';

function sanitizeName(name: string | null): string | null {
  const sanitized = (name ?? '').slice(0, NAME_MAX_CHARACTERS).replace(UNSAFE_CHARACTERS, '').trim();
  return sanitized === '' || sanitized === '.' || sanitized === '..' ? null : sanitized;
}

/** What is kept of what a client says of its file. */
export const sanitizeMetadata = ({ name, type }: FileMetadata): FileMetadata => ({
  name: sanitizeName(name),
  type: sanitizeType(type),
});

/** @returns what is written in the text of `writeAbout`; of anything else, that nothing is known. */
export function parseMetadata(text: string): FileMetadata {
  try {
    const { name, type } = JSON.parse(text);
    return sanitizeMetadata({
      name: typeof name === 'string' ? name : null,
      type: typeof type === 'string' ? type : '',
    });
  } catch {
    return sanitizeMetadata({ name: null, type: '' });
  }
}

/** The text that `readAbout` reads. */
export const serializeMetadata = ({ name, type }: FileMetadata): string => JSON.stringify({ name, type });
