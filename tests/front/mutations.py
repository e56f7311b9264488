"""Mutations of the front and of the store on the disk: each one must fail a default test.

python -m tests.campaigns code --only front
"""

from __future__ import annotations

from tests.query.mutations import Mutation


def tests(file: str, name: str) -> tuple[str]:
    return (f"tests/{file}::{name}",)


OUTPUTS, RECORD = "front/output/outputs.py", "front/output/folder_record.py"
LAST, ANSWER, CLAIMS, LOCK, PLACES = (
    f"front/run/{name}.py" for name in ("record", "answer", "claims", "lock", "places")
)
SHARED, DRIVER, COLLECT, HTTP = (
    "front/run/shared.py",
    "front/run/driver.py",
    "front/run/collect.py",
    "front/remote/http_cache.py",
)
ORPHANS = "front/run/orphans.py"
ARCHIVE, STORES = "store/archive.py", "store/collect.py"

OF_FOLDERS, OWNERSHIP = "front/test_folder_record.py", "front/test_ownership.py"
OF_ARCHIVES, OF_SERVERS = "front/test_cache_archive.py", "front/test_shared_cache.py"

TABLE = [
    # ---- generated files, and the record of their folder
    (
        Mutation(OUTPUTS, "return known.digest == wanted", "return True"),
        tests("stages/test_incremental.py", "test_a_formula_runs_its_node_and_its_shard"),
    ),
    (
        Mutation(OUTPUTS, "        self.record.expect(", "        str("),
        tests(OF_FOLDERS, "test_what_a_killed_run_wrote_is_known"),
    ),
    (
        Mutation(OUTPUTS, "            if not kept:\n", "            if True:\n"),
        tests(OF_FOLDERS, "test_a_file_of_an_earlier_layout_that_was_edited_stays_and_is_reported_each_time"),
    ),
    (
        Mutation(RECORD, "0 <= count <= len(pairs) == len(lines) - 1", "True"),
        tests(OF_FOLDERS, "test_no_damage_to_a_record_invents_a_file_or_goes_unnoticed"),
    ),
    (
        Mutation(RECORD, '_NOWHERE.isdisjoint(name.split("/"))', "True"),
        tests(OF_FOLDERS, "test_a_record_names_nothing_outside_of_its_folder"),
    ),
    (
        Mutation("io/checked.py", "data if stored[:9] == b\"%08x \" % crc32(data) else None", "data"),
        tests(OF_FOLDERS, "test_no_damage_to_a_record_invents_a_file_or_goes_unnoticed"),
    ),
    (
        Mutation(ORPHANS, "    remove_old(build, old)\n", ""),
        tests("front/test_torchgen.py", "test_an_operator_that_goes_takes_its_headers_along_and_files_of_others_stay"),
    ),
    (
        Mutation(ORPHANS, "sorted(inner, reverse=True) if old else ()", "()"),
        tests("families/test_operator_headers.py", "test_they_go_with_their_family"),
    ),
    # ---- what is up to date, and who decides
    (
        Mutation(LAST, "or (strict and self.made.warned) ", ""),
        tests("front/test_reporters.py", "test_a_warning_is_an_error_for_a_strict_run_after_one_that_was_not"),
    ),
    (
        Mutation(
            ANSWER,
            "if unchanged(_noted(paths[:middle], numbers)) and unchanged(_noted(paths[middle:], more)):",
            "if unchanged(_noted(paths[:middle], numbers)):",
        ),
        tests("front/test_here.py", "test_a_folder_that_becomes_a_set_is_one_in_the_next_run"),
    ),
    (
        Mutation(ANSWER, ' and not word.startswith("stamp=")', ""),
        tests("front/test_unchanged.py", "test_a_stamp_is_written_however_often"),
    ),
    (
        Mutation(DRIVER, "if names != self._names:", "if False:"),
        tests("families/test_families.py", "test_returning_to_all_families_recomputes_no_unit"),
    ),
    # ---- whose a file is
    (
        Mutation(CLAIMS, "if os.path.isabs(owner) and not os.path.exists(owner):", "if False:"),
        tests(OF_FOLDERS, "test_another_set_with_another_cache_has_the_folder_after_the_first_is_deleted"),
    ),
    (
        Mutation(CLAIMS, "for path, problem in problems if problem]", "for path, problem in problems if False]"),
        tests(OWNERSHIP, "test_a_file_of_others_with_a_name_of_gradmill_s_own_is_refused"),
    ),
    (
        Mutation(PLACES, "if (problem := refusal_of(build, name, path))", "if not path and (problem := name)"),
        tests(OWNERSHIP, "test_a_place_that_is_named_and_not_ours_stays"),
    ),
    (
        Mutation(LOCK, "return error.errno not in _IN_USE", "return True"),
        tests("front/test_lock.py", "test_a_run_waits_for_another_one_and_is_right"),
    ),
    (
        Mutation(COLLECT, "for path in stores[keep:]:", "for path in ():"),
        tests("stages/test_incremental.py", "test_the_stores_of_two_versions_of_the_code_are_kept"),
    ),
    # ---- results of other machines
    (
        Mutation(HTTP, "None if not replaces and self._has(blob) else file", "file"),
        tests(OF_SERVERS, "test_an_archive_that_the_server_has_is_not_sent_again"),
    ),
    (
        Mutation(HTTP, "    if status in _DENIED:\n", "    if False:\n"),
        tests(OF_SERVERS, "test_a_token_that_is_refused_is_not_shown"),
    ),
    (
        Mutation(SHARED, "if len(db.ran) * _LITTLE < self._restored:", "if False:"),
        tests("front/test_shared_similar.py", "test_a_little_that_is_new_is_not_uploaded_and_much_is"),
    ),
    (
        Mutation(ARCHIVE, "if size != part.size or (hashes and digest.hexdigest() != part.sha256):", "if False:"),
        tests(OF_ARCHIVES, "test_a_bad_archive_is_refused_and_nothing_changes"),
    ),
    (
        Mutation(ARCHIVE, "        if not accepts(snapshot.inputs):\n", "        if False:\n"),
        tests(OF_SERVERS, "test_an_archive_of_other_inputs_is_refused_and_replaced"),
    ),
    (
        Mutation(STORES, "Collected(rows[0] - rows[1], rows[1],", "Collected(rows[0], rows[1],"),
        tests("front/test_commands.py", "test_gc_again_finds_nothing"),
    ),
]  # fmt: skip
MUTATIONS = [mutation for mutation, _ in TABLE]
