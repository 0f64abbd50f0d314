import type { PagedList } from '../paged-list.ts';
import { Button } from './button.tsx';
import { FormError } from './field.tsx';

export const MoreButton = ({ list, what }: { list: PagedList<unknown>; what: string }) => (
  <div className="row">
    <FormError problem={list.problem} />
    {list.hasMore ? (
      <Button onClick={list.more} busy={list.isLoading}>
        Load more {what}s
      </Button>
    ) : null}
    <span className="muted">
      {list.items.length} {list.items.length === 1 ? what : `${what}s`}
      {list.hasMore ? ' shown' : ''}
    </span>
  </div>
);
