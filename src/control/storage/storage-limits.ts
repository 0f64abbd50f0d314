/** What bounds files that customers store. */
export type StorageLimits = Readonly<{
  /** Bytes of one file. */
  fileMaxBytes: number;
  /** Bytes of all files together, each counted once. */
  totalMaxBytes: number;
  /** Files in all. */
  filesMax: number;
  /**
   * Files that are coming at a time, and as many that are here whole, such as metadata; each may take `fileMaxBytes`
   * of the disk and 2 MiB of memory meanwhile.
   */
  uploadsMax: number;
  /** Files of one key family that are coming at a time: a slow customer keeps others from nothing. */
  uploadsPerOwnerMax: number;
  /** Files that wait until those that are coming are there. */
  uploadsWaitingMax: number;
  /** How long one waits; nothing is read of it meanwhile. */
  uploadsWaitMs: number;
}>;

/** What holds unless something else is set. */
export const storageLimits: StorageLimits = {
  fileMaxBytes: 100 * 1024 * 1024,
  totalMaxBytes: 100 * 1024 * 1024 * 1024,
  filesMax: 1_000_000,
  uploadsMax: 64,
  uploadsPerOwnerMax: 8,
  uploadsWaitingMax: 1_000,
  uploadsWaitMs: 60_000,
};
