import type { Kysely } from 'kysely';

/** What the minutes of usage are rolled up into. Each row follows from rows of the finer table alone. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by step 8
export interface UsageTables {}

/** Step 8 of the schema. */
export async function createUsageTables(_db: Kysely<unknown>): Promise<void> {}
