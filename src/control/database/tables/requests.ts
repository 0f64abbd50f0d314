import type { Kysely } from 'kysely';

/** What single requests, open connections and gateways tell of themselves: bounded, and never money. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by step 9
export interface RequestTables {}

/** Step 9 of the schema. */
export async function createRequestTables(_db: Kysely<unknown>): Promise<void> {}
