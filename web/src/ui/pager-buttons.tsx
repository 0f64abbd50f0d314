import type { Pager } from '../pager.ts';
import { Button } from './button.tsx';

/** @param next - cursor of the next page; null on the last. */
export const PagerButtons = ({ pager, next }: { pager: Pager; next: string | null }) =>
  pager.page === 1 && next === null ? null : (
    <nav className="row" aria-label="Pages of the list">
      <Button disabled={pager.page === 1} onClick={pager.toPrevious}>
        Previous
      </Button>
      <Button disabled={next === null} onClick={() => next !== null && pager.toNext(next)}>
        Next
      </Button>
      <span className="muted">Page {pager.page}</span>
    </nav>
  );
