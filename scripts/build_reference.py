"""Make the Parquet tables of `portrayal/reference/data` from the sources as released.

Usage: python scripts/build_reference.py RAW_FOLDER [--out FOLDER]

RAW_FOLDER holds `names/` with the three tables named below and `published/` with the published
results. Shares become fractions; nothing else is changed, except that the Census file's row for
all names too rare to be listed is left out, since it is not a name.
"""

import argparse
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

HERE = Path(__file__).resolve().parent.parent / "src" / "portrayal" / "reference" / "data"

SHARES = {
    "pctwhite": "white",
    "pctblack": "black",
    "pctapi": "asian",
    "pctaian": "aian",
    "pcthispanic": "latine",
    "pct2prace": "multiracial",
    "pctfemale": "share_female",
    "pctmale": "share_male",
    "pct_mena": "mena",
    "pct_nhpi": "nhpi",
}
TABLES = {
    "census_2020_first_names.csv.gz": ("census_2020_first_names.parquet", "count"),
    "nana_wikipedia_mena_nhpi_n5.csv": ("nana_wikipedia_mena_nhpi.parquet", "n"),
    "tzioumis2018_first_names.csv": ("tzioumis_2018_first_names.parquet", "obs"),
}
NOT_A_NAME = "ALL OTHER NAMES"


def convert(source: Path, count_column: str) -> pa.Table:
    """Return the table of `source` with `name`, `count` and shares as float32 fractions."""
    as_text = csv.ConvertOptions(null_values=[""], column_types={"name": pa.string()})
    raw = csv.read_csv(source, convert_options=as_text)
    raw = raw.filter(pc.not_equal(raw["name"], NOT_A_NAME)).sort_by("name")
    columns = {"name": raw["name"], "count": raw[count_column].cast(pa.int32())}
    for percent, share in SHARES.items():
        if percent in raw.column_names:
            values = pc.divide(raw[percent].cast(pa.float64()), 100.0)
            columns[share] = values.cast(pa.float32())
    return pa.table(columns)


def main() -> None:
    """Convert the name tables and copy the published results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("raw", type=Path, help="folder with names/ and published/")
    parser.add_argument("--out", type=Path, default=HERE, help="where the files go")
    arguments = parser.parse_args()
    (arguments.out / "published").mkdir(parents=True, exist_ok=True)
    for source, (target, count_column) in TABLES.items():
        table = convert(arguments.raw / "names" / source, count_column)
        shares = [name for name in table.column_names if name != "name"]
        path = arguments.out / target
        pq.write_table(
            table,
            path,
            compression="zstd",
            compression_level=19,
            use_dictionary=shares,
            column_encoding={"name": "DELTA_BYTE_ARRAY"},
        )
        print(f"{path.name}: {table.num_rows:,} names, {path.stat().st_size:,} bytes")
    for source in sorted((arguments.raw / "published").glob("*.csv")):
        target = arguments.out / "published" / source.name
        shutil.copyfile(source, target)
        print(f"published/{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
