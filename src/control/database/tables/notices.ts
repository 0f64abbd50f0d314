import type { Kysely } from 'kysely';

/** Who is told when a quota runs out, and what was told already. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by step 10
export interface NoticeTables {}

/** Step 10 of the schema. */
export async function createNoticeTables(_db: Kysely<unknown>): Promise<void> {}
