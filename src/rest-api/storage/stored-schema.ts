import { z } from 'zod';

/** What is answered of a file that was stored. Source: rest-api.md §2.21, §2.22. */
export const storedSchema = z.object({
  cid: z.string().meta({ description: 'Content identifier of the file.' }),
  uri: z.string().meta({ description: 'Where it can be had.' }),
});
