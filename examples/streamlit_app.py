"""A chat over a database in Streamlit, with tables and charts.

    pip install tableturn streamlit
    streamlit run examples/streamlit_app.py

TABLETURN_DB chooses a database, TABLETURN_MODEL or OPENAI_API_KEY a model.
"""

import os

import pandas as pd
import streamlit as st
from tableturn import Answer, SQLAgent, TableturnError
from tableturn.tools.sample import build_sample


@st.cache_resource
def open_agent() -> SQLAgent:
    """One agent for all sessions; it may be used from any number of threads."""
    return SQLAgent(os.environ.get("TABLETURN_DB") or build_sample("build/kestrel.sqlite"))


def table(answer: Answer) -> pd.DataFrame:
    """The rows under headings for people; one that comes again is numbered, as Streamlit wants each but once."""
    frame, names = answer.to_dataframe(), list(answer.headings)
    frame.columns = [f"{name} ({at + 1})" if name in names[:at] else name for at, name in enumerate(names)]
    return frame


st.title("Ask the shop")
if "chat" not in st.session_state:
    st.session_state.chat = open_agent().conversation()
    st.session_state.answers = []

if question := st.chat_input("Ask a question"):
    with st.spinner("Looking"):
        try:
            st.session_state.answers.append(st.session_state.chat.ask(question))
        except TableturnError as error:
            st.error(str(error))

for answer in st.session_state.answers:
    st.chat_message("user").text(answer.question)
    with st.chat_message("assistant"):
        st.text(answer.text)  # text, not Markdown: it may quote what the database holds
        if answer.sql:
            st.code(answer.sql, language="sql")
        for choice in answer.choices:
            st.text(f"- {choice}")
        if answer.row_count > 1:
            if answer.chart:
                st.vega_lite_chart(answer.chart)
            st.dataframe(table(answer), hide_index=True)
