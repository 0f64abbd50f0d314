import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { formatSpan } from '../../format.ts';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { useNow } from '../../ui/time.tsx';
import type { KeyCommands } from './key-dialogs.tsx';
import { isInactive, statusTones } from './key-labels.ts';

export const KeyChips = ({ item }: { item: KeyJson }) => (
  <span className="row row-close">
    <Chip tone={statusTones[item.state]}>{item.state}</Chip>
    {item.isPublic ? <Chip>public</Chip> : null}
    {item.leakedAt === null ? null : <Chip tone="bad">leaked</Chip>}
  </span>
);

export function Overlap({ item, onCut }: { item: KeyJson; onCut: () => void }) {
  const now = useNow();
  if (item.state !== 'rotating' || item.expiresAt === null) return null;
  return (
    <span className="overlap">
      expires in {formatSpan(item.expiresAt - now)}
      <Button size="s" onClick={onCut}>
        Expire now
      </Button>
    </span>
  );
}

const actionsOf = (item: KeyJson, commands: KeyCommands): readonly MenuItem[] => [
  { label: 'Rotate', disabled: item.state !== 'active', onSelect: () => commands.rotate(item) },
  item.state === 'disabled'
    ? { label: 'Enable', onSelect: () => commands.enable(item) }
    : { label: 'Disable', disabled: isInactive(item.state), onSelect: () => commands.disable(item) },
  {
    label: 'Revoke',
    danger: true,
    disabled: item.state === 'revoked',
    onSelect: () => commands.revoke([item]),
  },
];

export const KeyButtons = ({ item, commands }: { item: KeyJson; commands: KeyCommands }) => (
  <>
    {actionsOf(item, commands).map(({ label, danger, disabled, onSelect }) => (
      <Button
        key={String(label)}
        kind={danger === true ? 'danger' : 'plain'}
        disabled={disabled === true}
        onClick={onSelect}
      >
        {label}
      </Button>
    ))}
  </>
);

export function KeyMenu({
  item,
  commands,
  onOpen,
}: {
  item: KeyJson;
  commands: KeyCommands;
  onOpen: () => void;
}) {
  const items: MenuItem[] = [{ label: 'Details', onSelect: onOpen }, ...actionsOf(item, commands)];
  return (
    <Menu
      label={`Actions for ${item.name}`}
      button={<Icon name="more" />}
      buttonProps={{ kind: 'quiet', className: 'icon-button' }}
      align="end"
      items={items}
    />
  );
}
