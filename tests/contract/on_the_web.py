"""Which tests of the contract do not run on the web page as they stand, and why; none is left out silently.

`Own` names the test that shows the same on the web in the web's own form; `NO_SENSE` says why there is nothing to show.
`tests/house/test_promises.py` holds this table to its word.
"""

from typing import Final, NamedTuple


class Own(NamedTuple):
    """The web's own form of a test: file below `tests`, name of the test; and what is different there."""

    file: str
    test: str
    why: str


WEB = "contract/test_web.py"
USE = "adapters/web/page/test_use.py"
WANTED = "adapters/web/page/test_wanted.py"
PULLED = "the page reads what is stored: nothing is sent to it that could be lost, doubled, refused or edited late"

OWN: Final[dict[str, Own]] = {
    "test_every_kind_of_control_wakes_the_run": Own(
        WEB, "test_every_control_of_the_page_wakes_the_run", "boxes to tick and a form with all fields at once"
    ),
    "test_another_member_presses_and_nothing_changes": Own(
        WEB, "test_another_person_presses_and_nothing_changes", "there are no groups; somebody else signs in"
    ),
    "test_an_empty_list_of_people_means_nobody_in_a_group": Own(
        "adapters/web/test_people.py",
        "test_a_group_is_bound_to_people_and_only_the_starter_and_approvers_answer",
        "the web binds the groups of other platforms, it has none",
    ),
    "test_small_talk_in_a_group_is_not_consent": Own(
        WEB, "test_a_bare_word_answers_one_confirmation_and_never_one_of_two", "a conversation has one person"
    ),
    "test_what_others_write_in_a_group_is_not_the_answer": Own(
        WEB, "test_another_person_presses_and_nothing_changes", "there are no groups; somebody else signs in"
    ),
    "test_a_press_that_says_no_yes_approves_nothing": Own(
        "adapters/web/test_answers.py", "test_only_an_explicit_yes_is_a_yes", "a press of the page is a call of the API"
    ),
    "test_a_bare_yes_to_two_questions_asks_which_one": Own(
        WEB, "test_a_bare_word_answers_one_confirmation_and_never_one_of_two", "both cards stand there"
    ),
    "test_commands_act_as_commands_while_a_text_is_asked": Own(
        USE, "test_a_command_is_no_answer", "the page has lists and dialogs of its own for commands"
    ),
    "test_an_edit_changes_nothing_and_says_so": Own(
        WEB, "test_what_was_said_cannot_be_said_otherwise", "nothing can be edited; a repeat carries its key"
    ),
    "test_an_update_that_comes_again_changes_nothing_and_is_not_answered_again": Own(
        WEB, "test_what_was_said_cannot_be_said_otherwise", "a repeat carries its key"
    ),
    "test_another_agent_is_chosen_by_a_command": Own(
        WEB, "test_another_agent_is_chosen_on_the_page", "the page has words of its own"
    ),
    "test_a_late_press_before_the_sweeper_came_is_late_all_the_same": Own(
        WEB, "test_a_late_answer_is_late_although_nobody_swept", "the web process sweeps; here another holds its broom"
    ),
    "test_cancel_asks_and_then_everything_of_the_question_goes": Own(
        USE, "test_cancel_of_a_waiting_task_asks_once_and_closes_its_question", "the page asks beside the buttons"
    ),
    "test_always_is_for_exactly_this_call_and_can_be_taken_back": Own(
        WEB, "test_always_says_its_scope_and_is_taken_back_on_the_page", "a panel and a dialog instead of a card"
    ),
    "test_payloads_are_short_whatever_the_names_are": Own(
        WEB, "test_names_of_any_length_come_back_as_they_are", "a press on the page carries the option's id, no payload"
    ),
    "test_long_options_are_listed_in_full_and_numbered": Own(
        WEB, "test_every_option_stands_there_in_full", "every option is a button with all of its text"
    ),
    "test_many_options_are_turned_page_by_page_and_none_is_missing": Own(
        WEB, "test_every_option_stands_there_in_full", "all options stand there, however many"
    ),
    "test_blank_options_are_left_out_and_equal_ones_stay_two": Own(
        WEB, "test_equal_options_stay_two_and_blank_ones_are_left_out", "options have no numbers"
    ),
    "test_what_cannot_be_shown_whole_cannot_be_approved": Own(
        WEB, "test_a_subject_of_any_length_is_whole_before_it_can_be_approved", "everything can be shown whole"
    ),
    "test_a_confirmation_whose_words_are_not_whole_cannot_be_approved_either": Own(
        WEB, "test_a_subject_of_any_length_is_whole_before_it_can_be_approved", "everything can be shown whole"
    ),
    "test_a_long_reply_comes_whole_and_the_question_after_it_is_not_stuck": Own(
        WEB, "test_a_reply_of_any_length_is_one_message", "nothing is split, nothing becomes a file"
    ),
    "test_an_edit_to_the_same_is_as_good_as_done": Own(
        WEB, "test_a_page_that_hears_everything_again_shows_it_once", "the page draws anew instead of being edited"
    ),
    "test_untrusted_text_is_shown_as_text": Own(
        USE, "test_hostile_text_is_only_text_wherever_it_stands", "a browser could run it: everywhere it may stand"
    ),
    "test_a_secret_is_asked_for_by_a_link_in_private_and_never_in_a_group": Own(
        "adapters/web/page/test_secrets.py",
        "test_a_secret_is_given_on_its_card",
        "the card itself has the masked field",
    ),
    "test_the_card_says_what_is_wanted_and_how_large_it_may_be": Own(
        WANTED,
        "test_a_file_is_chosen_on_the_card_and_named_when_it_is_settled",
        "the card takes it",
    ),
    "test_a_larger_limit_of_the_agent_is_cut_to_what_fits_through": Own(
        WANTED,
        "test_a_file_that_does_not_fit_is_refused_on_the_card",
        "the card takes it",
    ),
    "test_the_next_message_with_a_file_is_the_answer_in_private": Own(
        WANTED,
        "test_a_file_attached_to_the_next_message_answers",
        "the card takes it",
    ),
    "test_in_a_group_a_reply_to_the_card_is_the_answer_and_nothing_else": Own(
        WANTED,
        "test_a_file_is_chosen_on_the_card_and_named_when_it_is_settled",
        "the card takes it",
    ),
    "test_what_does_not_fit_is_refused_in_words_and_the_question_stays_open": Own(
        WANTED,
        "test_a_file_that_does_not_fit_is_refused_on_the_card",
        "the card takes it",
    ),
    "test_what_is_optional_is_skipped_by_a_press": Own(
        WANTED,
        "test_a_form_keeps_its_files_over_a_reload",
        "the card takes it",
    ),
    "test_a_form_takes_a_file_where_its_card_asks_for_it": Own(
        WANTED,
        "test_a_form_keeps_its_files_over_a_reload",
        "the card takes it",
    ),
    "test_files_are_kept_under_safe_names_and_none_overwrites_another": Own(
        "adapters/web/test_files.py", "test_files_keep_apart_whatever_they_are_called", "files come by a form"
    ),
    "test_a_file_that_is_too_large_is_refused_in_words": Own(
        "adapters/web/test_files.py", "test_a_file_that_is_too_large_is_refused_in_words", "files come by a form"
    ),
    "test_addresses_are_refused_in_words_and_never_fetched": Own(
        WEB, "test_no_address_is_fetched_by_the_page_or_the_server", "an address in a message is only text"
    ),
    "test_a_chat_that_is_told_to_wait_is_left_alone_and_others_are_not": Own(
        WEB, "test_a_call_that_is_told_to_wait_counts_once_when_it_passes", "the page itself may be told to wait"
    ),
    "test_a_blocked_bot_is_a_fact_on_the_question_and_no_loop": Own(
        WEB, "test_what_a_platform_could_not_show_is_answered_on_the_page", "the page is where it stays answerable"
    ),
    "test_a_kill_while_showing_loses_nothing": Own(
        "faults/test_page_killed.py", "test_a_web_process_killed_while_it_shows_loses_nothing", "the server is killed"
    ),
    "test_a_kill_before_a_press_is_stored_lets_the_update_come_again": Own(
        "faults/test_page_killed.py",
        "test_a_press_that_was_not_stored_is_sent_again_and_counts_once",
        "the page retries",
    ),
    "test_a_kill_after_a_press_was_stored_leaves_the_edit_to_the_next_process": Own(
        "faults/test_page_killed.py", "test_a_press_that_was_stored_but_not_confirmed_counts_once", "the page retries"
    ),
    "test_a_yes_counts_with_a_code_and_not_without": Own(
        "adapters/web/test_answers.py",
        "test_a_restricted_approval_needs_a_one_time_code_besides",
        "the code has a field of its own beside the buttons",
    ),
    "test_in_a_group_who_may_answer_is_told_how_to_prove": Own(
        "adapters/web/test_answers.py",
        "test_a_restricted_approval_needs_a_one_time_code_besides",
        "there are no groups on the web",
    ),
    "test_while_the_store_is_away_a_press_says_that_nothing_was_stored": Own(
        "adapters/web/test_bad_input.py", "test_without_redis_nothing_is_called_stored", "the API says so in words"
    ),
}

NO_SENSE: Final[dict[str, str]] = {
    "test_a_press_on_a_message_nobody_remembers_works_and_is_adopted": PULLED,
    "test_what_is_refused_as_markup_goes_out_plain": PULLED,
    "test_a_message_that_cannot_be_deleted_is_said_to_be_so": "what is refused on the page was never in the chat",
    "test_without_a_public_address_there_is_no_link": "the page needs no link to itself",
    "test_a_file_of_an_agent_arrives_as_a_file_or_is_said_to_be_elsewhere": "the page links every file",
    "test_a_question_whose_sending_is_unclear_is_shown_again_and_both_cards_work": PULLED,
    "test_a_text_whose_sending_is_unclear_is_not_sent_twice": PULLED,
    "test_what_waits_elsewhere_is_not_read_out_to_a_group": "there are no groups: nobody reads what the page lists",
    "test_no_list_asks_for_a_secret_to_be_written": "the page lists cards, not words",
    "test_a_command_that_is_named_to_a_person_stands_without_marks": "the page has buttons for what a command says",
    "test_the_list_of_a_group_names_no_paused_task_of_elsewhere": "there are no groups: nobody else reads along",
    "test_a_chat_with_a_new_id_keeps_its_question": "a conversation on the web never gets another address",
    "test_an_outage_leaves_debts_that_are_repaired": PULLED,
    "test_a_card_that_is_gone_is_no_debt": "nobody can delete a card from the page",
    "test_a_card_left_by_a_kill_after_its_send_works_as_well": PULLED,
    "test_a_second_front_end_takes_over_when_the_first_is_gone": "any number of web servers serve side by side",
    "test_a_kill_while_a_text_is_sent_never_sends_it_twice": PULLED,
}

NOT_ON_THE_WEB: Final = frozenset(OWN) | frozenset(NO_SENSE)
