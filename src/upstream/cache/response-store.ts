/** Results that several gateways keep together. */
export interface ResponseStore {
  /**
   * Looks for a result.
   * @param hear - gets its raw JSON, or null when there is none or it cannot be had; once, or never. Must not throw.
   */
  get(key: string, callback: (body: Buffer | null) => void): void;
  /** Stores a result for a while, if it can be done; nobody waits for it. The bytes are not changed. */
  set(key: string, body: Buffer, ttlMs: number): void;
}
