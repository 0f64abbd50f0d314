import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

export type FilterChip = Readonly<{ id: string; label: string; value: string }>;

export function FilterChips({
  chips,
  onRemove,
}: {
  chips: readonly FilterChip[];
  onRemove: (ids: readonly string[]) => void;
}) {
  if (chips.length === 0) return null;
  return (
    <ul className="filter-chips" aria-label="Active filters">
      {chips.map(({ id, label, value }) => (
        <li key={id}>
          <button
            type="button"
            className="filter-chip"
            onClick={() => onRemove([id])}
            aria-label={`Remove filter: ${label} ${value}`}
          >
            <span className="filter-chip-label">{label}</span>{' '}
            <span className="filter-chip-value">{value}</span>
            <Icon name="close" size={10} />
          </button>
        </li>
      ))}
      {chips.length < 2 ? null : (
        <li>
          <Button kind="quiet" size="s" onClick={() => onRemove(chips.map(({ id }) => id))}>
            Clear all
          </Button>
        </li>
      )}
    </ul>
  );
}
