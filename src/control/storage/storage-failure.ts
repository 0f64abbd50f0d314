import { Failure } from '../../protocol/errors.ts';

/** Error codes of a disk that takes no more. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What a file system's error is to whoever wants to store something. A Failure stays what it is. */
export function toStorageFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const code = (thrown as NodeJS.ErrnoException | null)?.code ?? '';
  return new Failure(FULL.has(code) ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE', { cause: thrown });
}

/** What a promise gives; null where there is no such file. @throws what it is rejected with otherwise. */
export async function nullIfMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
}
