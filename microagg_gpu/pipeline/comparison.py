"""What compare() returns."""

from typing import Any


def named(method: str, options: dict[str, Any]) -> str:
    """A method with its options, as 'vmdav gamma=0.5'."""
    return " ".join([method, *(f"{name}={value}" for name, value in options.items())])


class Comparison(list):
    """Rows: ``k``, ``method``, ``loss``, ``risk``, ``groups``, ``largest``, ``seconds``."""

    def __str__(self) -> str:
        lines = [
            f"{'k':>4}  {'method':<32}{'loss %':>9}{'risk %':>9}{'groups':>9}{'largest':>9}"
            f"{'seconds':>10}"
        ]
        for row in self:
            lines.append(
                f"{row['k']:>4}  {row['method']:<32}{row['loss']:>9.4f}{row['risk']:>9.3f}"
                f"{row['groups']:>9}{row['largest']:>9}{row['seconds']:>10.3f}"
            )
        return "\n".join(lines)
