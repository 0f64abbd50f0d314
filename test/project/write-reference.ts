import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pages, read, root } from './pages.ts';
import { withBlocks } from './reference-blocks.ts';

/** `npm run docs:reference`: writes the parts of docs/ that are generated from the code. */
for (const page of pages) writeFileSync(join(root, page), withBlocks(read(page)));
