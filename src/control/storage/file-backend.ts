import type { FileMetadata } from './file-metadata.ts';
import type { SpooledFile } from './upload-spool.ts';

/** Where files come to stay. */
export interface FileBackend {
  /**
   * Makes a file available under its content identifier, for good. Asked again for the same, it changes nothing, and
   * does not fail where it can tell that the file is available. It may move the file away from where it is.
   * @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE; errors of the file system. Nothing became available then.
   */
  store(file: SpooledFile, metadata: FileMetadata): Promise<void>;
}
