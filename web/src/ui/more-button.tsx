import type { Older } from '../older.ts';
import { Button } from './button.tsx';
import { Fault } from './field.tsx';

/** At the end of a list: the page behind it, and how much is shown. */
export const MoreButton = ({ list, what }: { list: Older<unknown>; what: string }) => (
  <div className="row">
    <Fault problem={list.problem} />
    {list.hasMore ? (
      <Button onClick={list.more} busy={list.isLoading}>
        Show older {what}
      </Button>
    ) : null}
    <span className="muted">
      {list.items.length} {what} shown{list.hasMore ? '' : ', no older ones'}
    </span>
  </div>
);
